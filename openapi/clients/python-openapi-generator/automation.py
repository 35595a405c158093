import hashlib
import hmac
import json
import time

from incident_triage.api import IncidentsApi, PlaybooksApi, TriageApi, WebhooksApi
from incident_triage.models import (
    AcceptedReceipt,
    KnownActionType,
    PlaybookInput,
    PlaybookRun,
    PlaybookRunRequest,
    PlaybookRunStatus,
    PlaybookStepInput,
    PlaybookUpdate,
    StartedPlaybookRun,
    TriageRequest,
    TriageStatus,
    WebhookSourceInput,
)
from parties import RUN, Parties, check, given, ok, refused


def triage(party: Parties, incident: str) -> None:
    api = TriageApi(party.analyst)
    run = api.triage_incident(incident, triage_request=TriageRequest()).data
    check(run.status is TriageStatus.COMPLETED, "the triage is completed")
    verdict = given(run.verdict)
    check(0 <= verdict.confidence <= 1, "the confidence is between 0 and 1")
    check(bool(verdict.classification), "the incident is classified")
    ok("triage")
    _, answer = refused(429, "rate_limited", lambda: api.triage_incident(incident))
    seconds = int(given(answer.headers)["Retry-After"])
    check(1 <= seconds <= 60, "it says when to come again")
    ok("limited")


def run(party: Parties, incident: str) -> None:
    step = PlaybookStepInput(
        name="ticket",
        action=KnownActionType.CREATE_TICKET,
        parameters={"title": "{{ incident.title }}"},
    )
    body = PlaybookInput(name=f"playbook-{RUN}", steps=[step])
    playbook = str(PlaybooksApi(party.senior).create_playbook(body).data.id)
    api = PlaybooksApi(party.analyst)
    request = PlaybookRunRequest(incident_id=incident)
    outcome = api.run_playbook(playbook, playbook_run_request=request).data
    started = outcome.actual_instance
    if not isinstance(started, StartedPlaybookRun):
        raise AssertionError("the run is none")
    ok("run")
    ended = end_of(api, playbook, started)
    check(ended.status is PlaybookRunStatus.COMPLETED, "the run is completed")
    check([bool(one.result) for one in ended.steps] == [True], "its step has a result")
    ok("read the run")
    change = PlaybookUpdate(description="Opens a ticket.")
    edited = PlaybooksApi(party.senior).update_playbook(playbook, change).data
    check(edited.description == "Opens a ticket.", "the playbook is described")
    check(len(edited.steps) == 1, "it keeps its step")
    ok("edit")


def end_of(api: PlaybooksApi, playbook: str, started: StartedPlaybookRun) -> PlaybookRun:
    while True:
        run = api.get_playbook_run(playbook, started.run_id).data
        if run.status is not PlaybookRunStatus.RUNNING:
            return run
        time.sleep(0.1)


def deliver(party: Parties) -> None:
    secret = f"{RUN}-is-no-word-of-a-list"
    source = WebhookSourceInput(source=RUN, secret=secret)
    made = WebhooksApi(party.admin).create_webhook_source(source).data
    check(made.source == RUN, "the source is registered")
    event = {"event_type": "malware", "data": {"alert_id": "alert-4711", "severity": "high"}}
    sent_at = str(int(time.time()))
    # The client writes a body in this way: these are the bytes that it sends.
    signed = f"{sent_at}.{json.dumps(event)}".encode()
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    receipt = WebhooksApi(party.stranger).receive_webhook(
        RUN, event, x_webhook_signature=f"sha256={digest}", x_webhook_timestamp=sent_at
    )
    accepted = receipt.actual_instance
    if not isinstance(accepted, AcceptedReceipt):
        raise AssertionError("the event is not accepted yet")
    incident = IncidentsApi(party.analyst).get_incident(str(accepted.incident_id)).data
    check(incident.source == RUN, "the incident is of the source")
    check(incident.raw_data == event, "the event is kept as it was sent")
    ok("receipt")
