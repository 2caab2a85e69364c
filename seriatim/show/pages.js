// Draws the descriptions of a page, as wide as there is room, light or dark as the reader likes.
// Without it, and on paper, the page shows the same pictures as they were drawn when it was made.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const AROUND = 110; // as in charts.py
  const errors = [];

  function widen(view, width) {
    if (view.width === undefined || typeof view.width === "number") view.width = width;
  }

  // the same as `fitted` in charts.py
  function fitted(body, width) {
    const whole = structuredClone(body);
    const wide = Math.round(width - 20);
    if (whole.vconcat) {
      for (const view of whole.vconcat) widen(view, wide - AROUND);
    } else if (whole.concat) {
      const each = Math.max(...whole.concat.map((v) => (typeof v.width === "number" ? v.width : 200)));
      whole.columns = Math.max(1, Math.min(whole.columns ?? 99, Math.floor(wide / (each + 40))));
    } else if (!whole.facet) {
      const stepped = typeof whole.height === "object";
      widen(whole, stepped ? wide - AROUND : wide);
      if (!stepped && typeof whole.width === "number") {
        whole.autosize = { type: "fit-x", contains: "padding" };
      }
    }
    return whole;
  }

  // by how much a picture of several views came out wider than there is room: names at the ends of
  // its lines and the labels of its axes have the width of their letters
  function overshoot(target, width) {
    const drawn = target.querySelector("svg")?.getAttribute("width") ?? 0;
    return Math.ceil(drawn - width);
  }

  async function draw(figure, again, squeezed = 0) {
    const picture = figure.querySelector(".picture");
    const width = Math.max(350, picture.clientWidth);
    if (!again && Math.abs(width - (figure.drawnAt ?? 0)) < 8) return;
    figure.drawnAt = width;
    const theme = dark.matches ? "dark" : "light";
    const whole = fitted(read(figure.dataset.chart), width - squeezed);
    whole.config = themes[theme];
    const target = document.createElement("div");
    const options = { ast: true, renderer: "svg", actions: false, tooltip: { theme } };
    try {
      const result = await window.vegaEmbed(target, whole, options);
      const over = overshoot(target, width);
      if (over > 1 && !squeezed) {
        result.finalize();
        return await draw(figure, true, over);
      }
      figure.drawn?.finalize();
      figure.drawn = result;
      target.className = "live"; // before the still one, which is for paper
      picture.querySelector(".live")?.remove();
      picture.prepend(target);
      target.querySelector("svg")?.setAttribute("aria-hidden", "true");
      figure.dataset.drawn = theme;
    } catch (error) {
      errors.push(String(error)); // the picture drawn when the page was made stays
      figure.dataset.drawn = "failed";
    }
  }

  const figures = [...document.querySelectorAll("figure[data-chart]")];

  async function first(figure) {
    seen.unobserve(figure);
    await draw(figure);
    new ResizeObserver(() => draw(figure)).observe(figure);
  }

  // what is seen at once, the others when there is nothing else to do
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !entry.target.drawnAt) first(entry.target);
  }, { rootMargin: "200px" });
  for (const figure of figures) seen.observe(figure);

  const idle = (then) => (window.requestIdleCallback ?? window.setTimeout)(then);
  async function rest() {
    const figure = figures.find((each) => !each.drawnAt);
    if (!figure) return;
    await first(figure);
    idle(rest);
  }
  window.addEventListener("load", () => idle(rest));
  dark.addEventListener("change", () => {
    for (const figure of figures) if (figure.drawnAt) draw(figure, true);
  });
})();
