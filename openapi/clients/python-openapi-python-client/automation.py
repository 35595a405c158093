import time

from incident_triage.api.incidents import get_incident
from incident_triage.api.playbooks import (
    create_playbook,
    get_playbook_run,
    run_playbook,
    update_playbook,
)
from incident_triage.api.triage import triage_incident
from incident_triage.api.webhooks import create_webhook_source, receive_webhook
from incident_triage.models import (
    AcceptedReceipt,
    IncidentEnvelope,
    KnownActionType,
    PlaybookEnvelope,
    PlaybookInput,
    PlaybookRun,
    PlaybookRunEnvelope,
    PlaybookRunOutcomeEnvelope,
    PlaybookRunRequest,
    PlaybookRunStatus,
    PlaybookStepInput,
    PlaybookStepInputParameters,
    PlaybookUpdate,
    StartedPlaybookRun,
    TriageRequest,
    TriageRunEnvelope,
    TriageStatus,
    WebhookSourceEnvelope,
    WebhookSourceInput,
)
from parties import RUN, Parties, answered, check, given, ok, refused, sender


def triage(party: Parties, incident: str) -> None:
    answer = triage_incident.sync_detailed(
        incident, client=party.analyst, body=TriageRequest()
    )
    run = answered(answer, TriageRunEnvelope).data
    check(run.status is TriageStatus.COMPLETED, "the triage is completed")
    verdict = given(run.verdict)
    check(0 <= verdict.confidence <= 1, "the confidence is between 0 and 1")
    check(bool(verdict.classification), "the incident is classified")
    ok("triage")
    again = triage_incident.sync_detailed(
        incident, client=party.analyst, body=TriageRequest()
    )
    refused(again, 429, "rate_limited")
    check(1 <= int(again.headers["Retry-After"]) <= 60, "it says when to come again")
    ok("limited")


def run(party: Parties, incident: str) -> None:
    step = PlaybookStepInput(
        name="ticket",
        action=KnownActionType.CREATE_TICKET,
        parameters=PlaybookStepInputParameters.from_dict({"title": "{{ incident.title }}"}),
    )
    body = PlaybookInput(name=f"playbook-{RUN}", steps=[step])
    made = create_playbook.sync_detailed(client=party.senior, body=body)
    playbook = str(answered(made, PlaybookEnvelope).data.id)
    request = PlaybookRunRequest(incident_id=incident)
    answer = run_playbook.sync_detailed(playbook, client=party.analyst, body=request)
    started = answered(answer, PlaybookRunOutcomeEnvelope).data
    if not isinstance(started, StartedPlaybookRun):
        raise AssertionError("the run is none")
    ok("run")
    ended = end_of(party, playbook, started)
    check(ended.status is PlaybookRunStatus.COMPLETED, "the run is completed")
    check([bool(step.result) for step in ended.steps] == [True], "its step has a result")
    ok("read the run")
    change = PlaybookUpdate(description="Opens a ticket.")
    changed = update_playbook.sync_detailed(playbook, client=party.senior, body=change)
    edited = answered(changed, PlaybookEnvelope).data
    check(edited.description == "Opens a ticket.", "the playbook is described")
    check(len(edited.steps) == 1, "it keeps its step")
    ok("edit")


def end_of(party: Parties, playbook: str, started: StartedPlaybookRun) -> PlaybookRun:
    while True:
        answer = get_playbook_run.sync_detailed(
            playbook, started.run_id, client=party.analyst
        )
        run = answered(answer, PlaybookRunEnvelope).data
        if run.status is not PlaybookRunStatus.RUNNING:
            return run
        time.sleep(0.1)


def deliver(party: Parties) -> None:
    secret = f"{RUN}-is-no-word-of-a-list"
    source = WebhookSourceInput(source=RUN, secret=secret)
    made = create_webhook_source.sync_detailed(client=party.admin, body=source)
    check(answered(made, WebhookSourceEnvelope).data.source == RUN, "the source is registered")
    event = {"event_type": "malware", "data": {"alert_id": "alert-4711", "severity": "high"}}
    sent = receive_webhook.sync_detailed(RUN, client=sender(secret), body=event)
    receipt = answered(sent, AcceptedReceipt)
    read = get_incident.sync_detailed(str(receipt.incident_id), client=party.analyst)
    incident = answered(read, IncidentEnvelope).data
    check(incident.source == RUN, "the incident is of the source")
    check(incident.raw_data.to_dict() == event, "the event is kept as it was sent")
    ok("receipt")
