from uuid import UUID

from incident_triage.api import IncidentsApi
from incident_triage.models import (
    IncidentInput,
    IncidentSort,
    IncidentStatus,
    IncidentSummaryList,
    IncidentUpdate,
    Severity,
)
from parties import RUN, Parties, check, given, ok, refused


def phishing(raw_data: dict[str, object]) -> IncidentInput:
    return IncidentInput(
        incident_type="phishing", source=RUN, severity=Severity.HIGH, raw_data=raw_data
    )


def create(party: Parties) -> UUID:
    api = IncidentsApi(party.analyst)
    body = phishing({"sender": "ceo@example.com", "subject": "Urgent"})
    keys = (f"first-{RUN}", f"first-{RUN}", f"second-{RUN}")
    ids = [api.create_incident(body, idempotency_key=key).data.id for key in keys]
    check(ids[0] == ids[1] != ids[2], "an Idempotency-Key makes one incident")
    ok("create")
    return ids[0]


def listed(party: Parties, first: UUID) -> None:
    def page_of(page: int) -> IncidentSummaryList:
        return IncidentsApi(party.analyst).list_incidents(
            page=page,
            per_page=1,
            source=RUN,
            status=[IncidentStatus.OPEN, IncidentStatus.TRIAGED],
            severity=[Severity.HIGH, Severity.CRITICAL],
            sort=[IncidentSort("-created_at")],
        )

    newest = page_of(1)
    check(newest.meta.total == 2, "two incidents are of this source")
    check([one.id == first for one in newest.data] == [False], "the newest one is first")
    ok("list")
    check([one.id for one in page_of(2).data] == [first], "the first one is on the next page")
    ok("next page")


def update(party: Parties, incident: str) -> None:
    api = IncidentsApi(party.analyst)
    etag = given(api.get_incident_with_http_info(incident).headers)["etag"]
    raised = api.update_incident(incident, IncidentUpdate(severity=Severity.CRITICAL), etag)
    check(raised.data.severity is Severity.CRITICAL, "the incident is critical")
    ok("update")
    lower = IncidentUpdate(severity=Severity.LOW)
    refused(412, "precondition_failed", lambda: api.update_incident(incident, lower, etag))
    kept = api.get_incident(incident).data
    check(kept.severity is Severity.CRITICAL, "the incident stays as it is")
    ok("stale")


def invalid(party: Parties) -> None:
    body = phishing({"received_at": "yesterday"})
    create_incident = IncidentsApi(party.analyst).create_incident
    error, _ = refused(422, "validation_error", lambda: create_incident(body))
    fields = [one.var_field for one in given(given(error.details).errors)]
    check("raw_data.received_at" in fields, "the details name raw_data.received_at")
    ok("invalid")
