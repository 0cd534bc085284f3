"""The shapes of the documents, as JSON Schema: what OpenAPI says and the tests hold answers to.

Law of this file: data.  One shape a name; closed where we write it, so that a field which is not
described fails a test.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """A closed object."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def ref(name: str) -> Schema:
    """A named shape."""
    return {"$ref": f"#/components/schemas/{name}"}


TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "number"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
INTEGER: Final[Schema] = {"type": "integer"}
TEXTS: Final[Schema] = {"type": "object", "additionalProperties": TEXT}
INTERVALS: Final[Schema] = {
    "type": "array",
    "description": "Closed intervals of curve indexes, as text: they are wider than numbers.",
    "items": {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2},
}
PLACE: Final[Schema] = {
    "type": "array",
    "description": "Fractions of the axes, in the order of the space's dimensions.",
    "items": NUMBER,
}
DOCUMENT: Final[Schema] = {"type": "object"}

_PAYLOAD: Final = {"data": TEXT, "data_base64": TEXT, "content_type": TEXT}
_MATCH: Final = {"id": TEXT, "profile": TEXT, "ttl": NUMBER, "owner": TEXT, "context": TEXTS}
_NOTICE: Final = {"kind": TEXT, "interest": TEXT, "notification": TEXT}
_OUTCOME: Final = {"id": TEXT, "action": TEXT, "complete": FLAG, "missing": INTERVALS}

SCHEMAS: Final[dict[str, Schema]] = {
    "Match": _object(_MATCH, {**_PAYLOAD, "place": PLACE}),
    "Notification": _object({**_MATCH, **_NOTICE}, _PAYLOAD),
    "Receipt": _object(
        {**_OUTCOME, "matches": COUNT, "peers": COUNT, "hops": COUNT, "ttl": NUMBER}
    ),
    "Answer": _object(
        {
            "action": TEXT, "complete": FLAG, "missing": INTERVALS, "peers": COUNT, "total": COUNT,
            "matches": _list(ref("Match")),
        },
        {"id": TEXT, "next": TEXT},
    ),
    "Results": _object(
        {
            **_OUTCOME, "matches": COUNT, "peers": COUNT,
            "results": _list(
                _object({"peer": TEXT, "matches": COUNT, "intervals": INTERVALS}, _PAYLOAD)
            ),
            "troubles": _list(TEXT),
        }
    ),
    "Message": _object(
        {"profile": {"type": "string", "format": "meteor-profile"}},
        {
            "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{0,64}$"},
            "action": {
                "anyOf": [
                    {"enum": ["store", "retrieve", "delete_data", "delete_interest"]},
                    {
                        "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
                        "description": "An action of the application's own.",
                    },
                ],
            },
            "ttl": {"type": "number", "minimum": 0, "maximum": 2_592_000},
            "owner": TEXT, "content_type": TEXT, "context": TEXTS, "data": TEXT,
            "visible_to": {"type": "array", "items": TEXT, "maxItems": 64},
            "data_base64": {"type": "string", "contentEncoding": "base64", "format": "byte"},
        },
    ) | {"not": {"required": ["data", "data_base64"]}},
    "Problem": {
        "type": "object",
        "properties": {
            "type": {"type": "string"}, "status": INTEGER, "detail": TEXT,
            "value": {}, "limit": {}, "position": INTEGER,
        },
        "required": ["type", "status", "detail"],
    },
    "Peer": _object(
        {
            "id": TEXT, "address": TEXT, "first": TEXT, "share": NUMBER, "answers": FLAG,
            "stored": INTEGER, "data": INTEGER, "interests": INTEGER, "copies": INTEGER,
            "lost": INTERVALS, "forgotten": COUNT,
        }
    ),
    "Ring": _object(
        {"closed": FLAG, "id_bits": COUNT, "here": TEXT, "peers": _list(ref("Peer"))}
    ),
    "Link": _object(
        {
            "from": TEXT, "to": TEXT, "round_trip_ms": NUMBER, "deviation_ms": NUMBER,
            "frames": COUNT, "silences": COUNT, "heard_s": {"type": ["number", "null"]},
        }
    ),
    "Links": _object({"links": _list(ref("Link")), "silent": _list(TEXT)}),
    "Space": _object(
        {
            "name": TEXT,
            "digest": {
                "type": "string", "pattern": "^[0-9a-f]{32}$",
                "description": "What the statement of a signed request names the space by.",
            },
            "bits": COUNT, "extra": TEXT, "max_attributes": COUNT, "dimensions": _list(DOCUMENT),
        }
    ),
    "Curve": DOCUMENT,
    "Explanation": DOCUMENT,
    "Record": _object(
        {
            "kind": TEXT, "id": TEXT, "profile": TEXT, "action": TEXT, "owner": TEXT,
            "ttl": NUMBER, "bytes": COUNT,
        }
    ),
    "Records": _object(
        {
            "records": _list(ref("Record")), "kept": COUNT, "examined": COUNT, "more": FLAG,
        },
        {"next": TEXT},
    ),
    "Access": _object({"access": TEXT, "address": TEXT, "id": TEXT, "space": TEXT}),
    "Health": DOCUMENT,
    "OpenApi": DOCUMENT,
}  # fmt: skip
