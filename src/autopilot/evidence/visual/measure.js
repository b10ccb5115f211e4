(() => {
  const most = 5, root = document.documentElement, view = root.clientWidth;
  const called = (element) => {
    const id = element.id ? "#" + element.id : "";
    const kind = typeof element.className === "string" ? element.className.trim().split(/\s+/)[0] : "";
    return (element.tagName.toLowerCase() + id + (kind ? "." + kind : "")).slice(0, 80);
  };
  const shown = (element) => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && style.display !== "none";
  };
  const clipped = [root, document.body].some(
    (element) => element && ["hidden", "clip"].includes(getComputedStyle(element).overflowX));
  const all = Array.from(document.querySelectorAll("body *")).slice(0, 5000);
  const width = clipped ? view : root.scrollWidth;
  let widest = "", right = view + 1;
  if (width > view + 1) {
    for (const element of all) {
      const edge = element.getBoundingClientRect().right + window.scrollX;
      if (edge > right && shown(element)) { right = edge; widest = called(element); }
    }
  }
  const images = Array.from(document.images).filter(
    (image) => shown(image) && !image.hasAttribute("alt") && !image.hasAttribute("aria-label") &&
      !image.hasAttribute("aria-labelledby") && image.getAttribute("aria-hidden") !== "true" &&
      !["presentation", "none"].includes(image.getAttribute("role")));
  const fields = Array.from(document.querySelectorAll("input, select, textarea")).filter(
    (field) => shown(field) && !["hidden", "submit", "button", "reset", "image"].includes(field.type) &&
      !(field.labels && field.labels.length) && !field.hasAttribute("aria-label") &&
      !field.hasAttribute("aria-labelledby") && !field.hasAttribute("title"));
  return {
    width, view, widest,
    text: document.body ? document.body.innerText.trim().length : 0,
    drawn: all.filter((e) => /^(img|svg|canvas|video|iframe|input|button|object|embed)$/i.test(e.tagName) && shown(e)).length,
    title: document.title.slice(0, 200),
    lang: root.lang || "",
    no_alt: images.slice(0, most).map((image) => called(image) + " " + (image.getAttribute("src") || "").slice(0, 80)),
    no_label: fields.slice(0, most).map((field) => called(field) + (field.name ? "[name=" + field.name + "]" : "")),
  };
})()
