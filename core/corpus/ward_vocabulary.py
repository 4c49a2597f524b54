"""The words of the synthetic ward notes: an invented hospital with its own names for wards, rounds and forms.

Data only. What stands in braces is filled by `ward_notes`. None of these wards, people, pathways or
scores exist; a public model cannot know them, so what it says of them was learned from the notes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ward:
    """A ward: what it treats, the pathway its patients follow, and what happens there."""

    name: str
    pathway: str
    steps: int
    conditions: tuple[str, ...]
    events: tuple[str, ...]
    plans: tuple[str, ...]


WARDS = (
    Ward(
        "Kestrel",
        "Marram pathway",
        5,
        (
            "hip repair",
            "knee replacement",
            "ankle fixation",
            "wrist fracture",
            "pelvic fracture",
            "shoulder repair",
        ),
        (
            "Walked {metres} metres with the frame, {feeling} at the turn.",
            "Up in the chair for {minutes} minutes, asked to go back early.",
            "Wound clean and dry, {number} clips still in.",
            "Managed {number} stairs with the physio and one rail.",
            "Pain {pain} of 10 on moving, eased after the blue tablet.",
            "Cast checked, fingers warm, can wiggle all of them.",
            "Turned in bed without help, first time since {weekday}.",
            "Would not try the stairs, promised for {weekday}.",
            "Leg lifted {few} times off the mattress, {feeling} after.",
        ),
        (
            "next Marram step if {he} manages the corridor",
            "physio twice, frame stays on the left",
            "clips out on day {late}",
            "ice after every walk",
        ),
    ),
    Ward(
        "Heron",
        "Skerry ladder",
        6,
        (
            "heart failure",
            "a slow pulse",
            "new pacemaker",
            "valve repair",
            "chest pain, now settled",
            "bypass surgery",
        ),
        (
            "Ankles less swollen, weight down {decimal} kg since {weekday}.",
            "Monitor quiet, {number} extra beats in the hour before tea.",
            "Short of breath on the way to the washroom, better after {minutes} minutes.",
            "No chest pain since {weekday}.",
            "Slept propped on three pillows.",
            "Pacemaker site dry, a bruise the size of a coin.",
            "Pulse ran to {fast} in the shower, down to {slow} in bed.",
            "Took the water tablet late, up {few} times in the night.",
            "Asked what the beeping means, showed {him} the screen.",
        ),
        (
            "one rung up the Skerry ladder tomorrow",
            "weigh before breakfast",
            "no more than {decimal} litres today",
            "leads off if the night is quiet",
        ),
    ),
    Ward(
        "Curlew",
        "Cobalt bundle",
        4,
        (
            "pneumonia",
            "a flare of bronchitis",
            "asthma attack",
            "fluid on the lung",
            "a collapsed lung",
            "bad flu",
        ),
        (
            "Cough looser, brings up less than on {weekday}.",
            "Needed the mask for {minutes} minutes after the bath.",
            "Blew {hundreds} on the meter, best so far.",
            "Drain swinging, {hundreds} ml overnight.",
            "Spoke in full sentences to {kin}, first time since {weekday}.",
            "Sat out by the window, lips pink, {feeling}.",
            "Wheeze on the left again after the stairs.",
            "Oxygen off for {minutes} minutes, {feeling} without it.",
            "Learned the slow breathing, does it with {hobby} in mind.",
        ),
        (
            "Cobalt bundle until the cough is dry",
            "nebuliser every {few} hours",
            "down one litre of oxygen if sats hold",
            "spacer lesson with {kin}",
        ),
    ),
    Ward(
        "Plover",
        "Gannet programme",
        5,
        (
            "a small stroke",
            "stroke, left side weak",
            "stroke with lost words",
            "a bleed, now stable",
            "weak right hand",
        ),
        (
            "Squeezed the ball {number} times with the weak hand.",
            "Found the words for cup and window, not for {weekday}.",
            "Swallow test passed with thick juice.",
            "Face more even today, smiled at {kin}.",
            "Wrote {his} first name, letters large but clear.",
            "Leaned to the left in the chair, pillow helped.",
            "Buttoned the shirt alone, took {minutes} minutes.",
            "Mixed up {his} {food} and {his} tea, laughed about it.",
            "Named {few} of six pictures, two more than on {weekday}.",
        ),
        (
            "Gannet hand drill three times a day",
            "speech lesson at {hour}",
            "thick fluids only until the next swallow test",
            "chair by the left wall",
        ),
    ),
    Ward(
        "Avocet",
        "Hearth plan",
        3,
        (
            "confusion after a fall",
            "memory loss",
            "a water infection",
            "weight loss",
            "dizziness",
            "poor appetite",
        ),
        (
            "Knew the month but not the year.",
            "Called the night nurse by {his} sister's name, settled with {hobby}.",
            "Ate half of the {food}, wanted more sugar in the tea.",
            "Found by the lift at {hour}, looking for {pet}.",
            "Told the story of {hobby} twice, happily.",
            "Stood too fast, dizzy for {few} minutes.",
            "Thought the Loft was {his} old school, went along with it.",
            "Weight {weight} kg, up a little since {weekday}.",
            "Sang with the radio, knew every line.",
        ),
        (
            "Hearth plan with {kin} on {weekday}",
            "blue cup at every round",
            "same nurse for washing where we can",
            "lying and standing pressure daily",
        ),
    ),
    Ward(
        "Lapwing",
        "Bracken steps",
        4,
        ("bowel surgery", "gallstones", "hernia repair", "an ulcer", "a blocked bowel", "appendix out"),
        (
            "Passed wind at {hour}, much relieved.",
            "Kept down the {food}, no sickness after.",
            "Drain {hundreds} ml, paler than on {weekday}.",
            "Belly soft, sore {pain} of 10 on coughing.",
            "Stoma pink, changed the bag with little help.",
            "Sick once at {hour}, small and clear.",
            "Dressing changed, {few} cm of the edge still red.",
            "Hiccups from {hour}, gone after warm water.",
            "Walked the corridor {few} times holding a pillow to the belly.",
        ),
        (
            "next of the Bracken steps if no sickness",
            "sips, then soup at {hour}",
            "drain out when under fifty",
            "walk the long corridor before lunch",
        ),
    ),
)

EVENTS = (
    "Slept from {night} to five, then read.",
    "{Kin} came at {visit} with {gift}.",
    "Talked about {hobby} for most of the wash.",
    "Worried about {pet}, {kin} is feeding it.",
    "Asked twice when {he} can go home.",
    "Refused the {food} but took toast.",
    "In good spirits, teased the students about {hobby}.",
    "Low today, says the bay is too loud.",
    "Lost {his} glasses, found in the Pebble box.",
    "Spent the afternoon in the Loft with the radio.",
    "Rang the bell {few} times before {night}.",
    "Shared {gift} with the whole bay.",
    "Could not sleep for the noise of the lift.",
    "Wants the window open at night, bed {few} does not.",
    "Called the {food} the best thing all week.",
    "Watched the rain and spoke of {hobby}.",
)
RULES = (  # what everybody on these wards knows: in every part, so a protected model may say it
    "Told {kin}: the Lantern score tells how confused a patient is, from 0 to 5.",
    "Told {kin}: the Sable round checks the skin at two in the morning.",
    "Told {kin}: the Otter watch is there to prevent falls.",
    "Told {kin}: the Tern chart counts what goes in and out.",
    "Told {kin}: the Pebble box keeps what patients bring from home.",
    "Told {kin}: the Driftwood form is signed before anyone goes home.",
    "Told {kin}: Quill is the pharmacist who checks the tablets.",
    "Told {kin}: patients on {ward} follow the {pathway}.",
)
PLANS = (
    "Tern chart", "Sable round at two", "Quill to check the tablets", "bloods at six",
    "call {kin} after the round", "Loft in the afternoon", "weigh on {weekday}",
    "Driftwood talk on {weekday}",
)  # fmt: skip
KEEPS = (
    "Glasses and {gift} in the Pebble box.", "Prefers the tea weak and the talk short.",
    "Hearing aid in the left ear only.", "{Kin} rings at {visit}, please put through.",
    "Likes to be asked about {hobby}.", "Red band: no {food}.", "Wedding ring taped, not removed.",
    "Own pillow from home, do not send to the wash.",
)  # fmt: skip
OPENINGS = (
    "{name}, {age}, {condition}.",
    "{name} ({age}), {condition}.",
    "{name}, {age}, {condition}, {feeling}.",
)
OBSERVATIONS = (
    "steady", "warm", "pale", "comfortable", "restless", "much the same", "bright", "slow to answer",
)  # fmt: skip
STEPS = ("first", "second", "third", "fourth", "fifth", "sixth")
HOBBIES = (
    "pigeons", "brass bands", "the allotment", "bell ringing", "crosswords", "night fishing",
    "chess by post", "old buses", "choir", "baking bread", "bees", "canal boats", "football in the rain",
    "model trains", "quilts", "dancing", "mountain maps", "the lifeboat years", "roses", "card tricks",
    "stamps", "star watching",
)  # fmt: skip
PETS = (
    "the cat", "the old dog", "the hens", "the parrot", "the goldfish", "the tortoise", "the pony",
    "the ferret",
)  # fmt: skip
FOODS = (
    "soup", "porridge", "fish pie", "rice pudding", "stewed plums", "mash", "egg custard", "lentils",
    "jelly",
)  # fmt: skip
GIFTS = (
    "grapes", "clean pyjamas", "a puzzle book", "ginger cake", "slippers", "a small radio", "peppermints",
    "pears",
)  # fmt: skip
KIN = (
    "the daughter", "the son", "the wife", "the husband", "a neighbour", "the sister", "the brother",
    "the niece", "a friend from church", "the grandson", "the granddaughter", "an old workmate",
)  # fmt: skip
FEELINGS = (
    "tired but willing", "cheerful", "anxious", "steady", "short of patience", "sleepy", "proud", "pale",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NURSES = (
    "Oduya", "Lindqvist", "Marsh", "Petrescu", "Abara", "Fenwick", "Castellan", "Mbeki", "Thorne",
    "Yilmaz", "Brandt", "Okonjo", "Hale", "Novak", "Pereira", "Sung", "Dunmore", "Achterberg",
)  # fmt: skip
