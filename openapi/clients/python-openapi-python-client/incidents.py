from uuid import UUID

from incident_triage.api.incidents import (
    create_incident,
    get_incident,
    list_incidents,
    update_incident,
)
from incident_triage.models import (
    CreatedIncidentEnvelope,
    IncidentEnvelope,
    IncidentInput,
    IncidentInputRawData,
    IncidentSort,
    IncidentStatus,
    IncidentSummaryList,
    IncidentUpdate,
    Severity,
)
from parties import RUN, Parties, answered, check, given, ok, refused


def phishing(raw_data: dict[str, object]) -> IncidentInput:
    return IncidentInput(
        incident_type="phishing",
        source=RUN,
        severity=Severity.HIGH,
        raw_data=IncidentInputRawData.from_dict(raw_data),
    )


def create(party: Parties) -> UUID:
    body = phishing({"sender": "ceo@example.com", "subject": "Urgent"})
    ids = []
    for key in (f"first-{RUN}", f"first-{RUN}", f"second-{RUN}"):
        made = create_incident.sync_detailed(client=party.analyst, body=body, idempotency_key=key)
        ids.append(answered(made, CreatedIncidentEnvelope).data.id)
    check(ids[0] == ids[1] != ids[2], "an Idempotency-Key makes one incident")
    ok("create")
    return ids[0]


def listed(party: Parties, first: UUID) -> None:
    def page_of(page: int) -> IncidentSummaryList:
        answer = list_incidents.sync_detailed(
            client=party.analyst,
            page=page,
            per_page=1,
            source=RUN,
            status=[IncidentStatus.OPEN, IncidentStatus.TRIAGED],
            severity=[Severity.HIGH, Severity.CRITICAL],
            sort=[IncidentSort("-created_at")],
        )
        return answered(answer, IncidentSummaryList)

    newest = page_of(1)
    check(newest.meta.total == 2, "two incidents are of this source")
    check([one.id == first for one in newest.data] == [False], "the newest one is first")
    ok("list")
    check([one.id for one in page_of(2).data] == [first], "the first one is on the next page")
    ok("next page")


def update(party: Parties, incident: str) -> None:
    read = get_incident.sync_detailed(incident, client=party.analyst)
    etag = read.headers["ETag"]
    answer = update_incident.sync_detailed(
        incident,
        client=party.analyst,
        body=IncidentUpdate(severity=Severity.CRITICAL),
        if_match=etag,
    )
    raised = answered(answer, IncidentEnvelope).data
    check(raised.severity is Severity.CRITICAL, "the incident is critical")
    ok("update")
    stale = update_incident.sync_detailed(
        incident,
        client=party.analyst,
        body=IncidentUpdate(severity=Severity.LOW),
        if_match=etag,
    )
    refused(stale, 412, "precondition_failed")
    kept = answered(
        get_incident.sync_detailed(incident, client=party.analyst), IncidentEnvelope
    )
    check(kept.data.severity is Severity.CRITICAL, "the incident stays as it is")
    ok("stale")


def invalid(party: Parties) -> None:
    body = phishing({"received_at": "yesterday"})
    answer = create_incident.sync_detailed(client=party.analyst, body=body)
    details = given(refused(answer, 422, "validation_error").details)
    fields = [error.field for error in given(details.errors)]
    check("raw_data.received_at" in fields, "the details name raw_data.received_at")
    ok("invalid")
