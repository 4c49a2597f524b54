"""Copying from the page: one script that copies, says so for a moment, and says why where it cannot."""

import json

# Browsers give pages a clipboard only on a safe address; elsewhere the old way is tried.
SCRIPT = """
<script>
(() => {
  const place = () => {
    let said = document.getElementById("studio-said");
    if (!said) {
      said = document.createElement("div");
      said.id = "studio-said";
      said.setAttribute("role", "status");
      document.body.append(said);
    }
    return said;
  };
  let clock;
  const say = (words) => {
    place().textContent = words;
    clearTimeout(clock);
    clock = setTimeout(() => { place().textContent = ""; }, 4000);
  };
  window.studioSay = say;
  const oldWay = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  };
  window.studioCopy = async (text, said) => {
    if (!text) { say("There is nothing to copy yet."); return; }
    const copied = await (navigator.clipboard?.writeText(text).then(() => true) ?? Promise.reject())
      .catch(() => oldWay(text));
    say(copied ? said : "This browser does not let a page copy. Mark the text and copy it by hand.");
  };
  document.addEventListener("DOMContentLoaded", place);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-copies]");
    if (button) studioCopy(document.getElementById(button.dataset.copies)?.textContent, "Copied.");
  });
})();
</script>
"""


def copies(text: str, said: str) -> str:
    """A handler for the browser that copies what the expression `text` gives, and then says so."""
    return f"() => studioCopy({text}, {json.dumps(said)})"
