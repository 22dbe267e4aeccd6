// What scrolls sideways can be reached by keyboard, and the search says what it is.
function reachable() {
  for (const box of document.querySelectorAll(".md-typeset__table, .md-typeset__scrollwrap, .md-typeset pre > code")) {
    const scrolls = box.scrollWidth > box.clientWidth
    if (scrolls) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  }
}
window.addEventListener("load", reachable)
window.addEventListener("load", () => document.querySelector(".md-search")?.setAttribute("aria-label", "Search"))
window.addEventListener("resize", reachable)
