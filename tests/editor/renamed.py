"""Cases in `tests/renamed`, where the runtime crate has another name in the manifest."""

COMPLETIONS = [
    ("fields of a step", "            drawn.length\n", "            drawn.▮\n", {"field": "length"}),
    ("names of attributes", "step drawn = Draw", "#[time▮] step drawn = Draw", {"has": "timeout"}),
]
