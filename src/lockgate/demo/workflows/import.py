"""Import: a long job that says how far it is, and can be killed at any moment."""

import csv
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from lockgate import Context, Workflow, action, compute, edge, idempotent

SOURCE = Path("data/orders.csv")
TARGET = Path("var/orders.json")


def count(ctx: Context) -> dict[str, Any]:
    with SOURCE.open(newline="") as file:
        return {"rows": sum(1 for _ in csv.DictReader(file))}


def load(ctx: Context) -> dict[str, Any]:
    """Adds the orders up by city, some rows a second (`rows_per_second` of the run's input)."""
    pause = 1 / (ctx.input or {}).get("rows_per_second", 30)
    total = ctx.outputs["count"]["rows"]
    cities: Counter[str] = Counter()
    with SOURCE.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=1):
            cities[row["city"]] += int(row["amount"])
            time.sleep(pause)
            ctx.update(
                {
                    "status": "running" if number < total else "completed",
                    "label": f"order {row['order']}",
                    "completed": number,
                    "total": total,
                    "unit": "rows",
                },
            )
    # Written beside and moved into place, so that a kill never leaves half a file.
    TARGET.parent.mkdir(exist_ok=True)
    draft = TARGET.with_suffix(".draft")
    draft.write_text(json.dumps(cities, indent=2, sort_keys=True))
    os.replace(draft, TARGET)
    return {"rows": total, "cities": dict(cities)}


def report(ctx: Context) -> dict[str, Any]:
    cities = ctx.outputs["load"]["cities"]
    best = max(cities, key=lambda city: cities[city])
    return {"file": str(TARGET), "rows": ctx.outputs["load"]["rows"], "best_city": best}


orders = Workflow(
    "import",
    start="count",
    title="Orders by city",
    nodes={
        "count": compute(count),
        "load": action(load, effect=idempotent("write-orders"), timeout=600),
        "report": compute(report),
    },
    edges=[edge("count", "load"), edge("load", "report")],
)
