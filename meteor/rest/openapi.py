"""The description of the routes for programs: OpenAPI 3.1, made of the table that serves them.

Law of this file: pure.  Nothing is described by hand that a route does not declare, so that the
description cannot promise what the routes do not do; a fuzzer in the tests holds them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from meteor.rest.answers import COMPLETE_HEADER
from meteor.rest.call import Operation, Resource, Schema
from meteor.rest.negotiation import JSON, XML
from meteor.rest.parameters import Parameter
from meteor.rest.problems import JSON_TYPE, XML_TYPE
from meteor.rest.schemas import SCHEMAS, ref

VERSION: Final = "3.1.0"
PROBLEMS: Final = {
    400: "The request cannot be understood.",
    401: "A token is needed.",
    403: "Refused; `rule` says by which rule.",
    404: "Nothing is there.",
    405: "The method is not for this path.",
    406: "None of the accepted forms can be given.",
    408: "The body came too slowly.",
    409: "Another keyword space.",
    413: "The body is too large.",
    415: "The body's form is not taken.",
    500: "An error of this peer.",
    502: "An error of the overlay.",
    503: "The peer is busy, starting or stopping.",
    504: "The overlay did not answer in time.",
}


def describe(resources: Sequence[Resource], version: str) -> dict[str, Any]:
    """The whole description."""
    return {
        "openapi": VERSION,
        "info": {
            "title": "Meteor",
            "version": version,
            "summary": "Decoupled interaction by content, over HTTP.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {resource.path: _path(resource) for resource in resources},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _path(resource: Resource) -> dict[str, Any]:
    item: dict[str, Any] = {}
    if resource.path_parameters:
        item["parameters"] = [_parameter(one, "path") for one in resource.path_parameters]
    for operation in resource.operations:
        item[operation.method.lower()] = _operation(resource, operation)
    return item


def _operation(resource: Resource, operation: Operation) -> dict[str, Any]:
    name = resource.path.strip("/").replace("/", "_").replace("{", "").replace("}", "") or "page"
    described: dict[str, Any] = {
        "operationId": f"{operation.method.lower()}_{name}",
        "summary": operation.summary,
        "parameters": [_parameter(one, "query") for one in operation.parameters],
        "responses": _answers(operation),
    }
    if operation.takes:
        described["requestBody"] = {
            "required": operation.body_schema is not None,
            "content": {form: _content(form, operation.body_schema) for form in operation.takes},
        }
    if operation.changes:
        described["security"] = [{}, {"token": []}]
    return described


def _parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": place,
        "description": parameter.meaning,
        "required": parameter.required,
        "schema": _parameter_schema(parameter),
    }
    return described


def _parameter_schema(parameter: Parameter) -> Schema:
    if parameter.kind == "text":
        said = {"format": parameter.form, "pattern": parameter.pattern}
        return {"type": "string"} | {name: value for name, value in said.items() if value}
    if parameter.kind == "flag":
        return {"type": "boolean"}
    if parameter.kind == "choice":
        return {"type": "string", "enum": list(parameter.choices)}
    schema: Schema = {"type": parameter.kind}
    if parameter.low is not None:
        schema["exclusiveMinimum" if parameter.exclusive_low else "minimum"] = parameter.low
    if parameter.high is not None:
        schema["maximum"] = parameter.high
    return schema


def _content(form: str, schema: Schema | None) -> dict[str, Any]:
    """The shape of JSON; of XML and others only that it is text."""
    if form == JSON and schema is not None:
        return {"schema": schema}
    return {"schema": {"type": "string"}} if form == XML else {"schema": {}}


def _answers(operation: Operation) -> dict[str, Any]:
    problem = {"content": {JSON_TYPE: {"schema": ref("Problem")}, XML_TYPE: {}}}
    answers: dict[str, Any] = {
        str(status): {
            "description": operation.summary,
            "content": {form: _content(form, schema) for form in operation.forms},
        }
        | (_complete_header() if "timeout" in {one.name for one in operation.parameters} else {})
        for status, schema in operation.answers.items()
    }
    if operation.method == "GET":
        answers["304"] = {"description": "The caller has it already."}
    for status, meaning in PROBLEMS.items():
        answers[str(status)] = {"description": meaning, **problem}
    return answers


def _complete_header() -> dict[str, Any]:
    return {
        "headers": {
            COMPLETE_HEADER: {
                "description": "Whether every part of the region answered.",
                "schema": {"type": "string", "enum": ["true", "false"]},
            }
        }
    }
