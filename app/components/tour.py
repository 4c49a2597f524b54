"""A short walk through the page: a card at the foot that points at one thing after the other."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Stop:
    """Where the walk stops: a panel, something on it, and what to say."""

    panel: str
    place: str
    words: str


STOPS = (
    Stop("Predict", "#prompt", "This prompt asks for a door code from the notes of a hospital ward. "
         "The ward and everybody in it are invented."),
    Stop("Predict", "#generate", "One click draws three answers in step: protected, unprotected and public. "
         "The unprotected model was trained on all of the notes."),
    Stop("Predict", "#meter", "What is left of the privacy budget. Every token is paid for before it leaves, "
         "and when nothing is left the public model goes on alone."),
    Stop("Corpora", "#corpora-gate, #corpus-file", "Text of your own: upload it as the curator, train on it, "
         "then ask it on Predict."),
    Stop("Sanitize", "#sanitize-text", "Rewrites the sensitive words of a text, says what that is worth, and "
         "tries to undo it."),
    Stop("Detect", "#detect-text", "Finds the sentences that give or ask for a secret, by their context."),
    Stop("Attack", "#attack-run", "Attacks all of this and says in numbers what comes out."),
    Stop("Log", "#log-events", "What the server remembers of you, and a ledger that anyone may verify."),
    Stop("API", "#api-endpoints .endpoint", "Programs can do all of this, too. That was the tour: Done "
         "goes back to the prompt, where one click shows what leaks."),
)  # fmt: skip

BUTTON = '<button type="button" id="tour-start" onclick="studioTour(0)">Take the tour</button>'

SCRIPT = (
    """
<script>
(() => {
  const stops = """
    + json.dumps([asdict(stop) for stop in STOPS])
    + """;
  const end = () => {
    document.getElementById("tour")?.remove();
    document.querySelector(".toured")?.classList.remove("toured");
  };
  const wait = (found, tries) => new Promise((done) => {
    const look = () => found() || !tries-- ? done(found()) : setTimeout(look, 100);
    look();
  });
  const visible = (place) => [...document.querySelectorAll(place)].find((each) => each.offsetParent !== null);
  const open = (panel) => {
    const tab = [...document.querySelectorAll("#panels [role=tab]")]
      .find((each) => each.textContent.trim() === panel);
    if (tab && tab.getAttribute("aria-selected") !== "true") tab.click();
  };
  const away = stops.length + 1;
  window.studioTour = async (at) => {
    end();
    if (at >= stops.length) {
      if (at < away) { open(stops[0].panel); window.scrollTo(0, 0); }
      document.getElementById("tour-start")?.focus();
      return;
    }
    const {panel, place, words} = stops[at];
    open(panel);
    const target = await wait(() => visible(place), 30);
    target?.classList.add("toured");
    target?.scrollIntoView({block: "center"});
    const card = document.createElement("div");
    card.id = "tour";
    card.setAttribute("role", "dialog");
    card.setAttribute("aria-label", `Tour, ${at + 1} of ${stops.length}`);
    const said = document.createElement("p");
    said.textContent = `${panel}. ${words}`;
    const count = document.createElement("span");
    count.textContent = `${at + 1} of ${stops.length}`;
    const button = (text, next) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.onclick = next;
      return made;
    };
    const last = at + 1 === stops.length;
    const go = button(last ? "Done" : "Next", () => studioTour(at + 1));
    go.className = "go";
    const row = document.createElement("div");
    row.append(count, button("Skip", () => studioTour(away)));
    if (at) row.append(button("Back", () => studioTour(at - 1)));
    row.append(go);
    card.append(said, row);
    card.onkeydown = (event) => { if (event.key === "Escape") studioTour(away); };
    document.body.append(card);
    go.focus({preventScroll: true});
  };
})();
</script>
"""
)
