
from incident_triage.api.actions import execute_incident_action, roll_back_action
from incident_triage.api.approvals import approve_action
from incident_triage.models import (
    ActionApproval,
    ActionRollback,
    ActionStatus,
    ApprovalLevel,
    ApprovedActionEnvelope,
    ExecutedActionEnvelope,
    IsolateHostParameters,
    IsolateHostRequest,
    IsolateHostRequestAction,
    RequiredLevel,
    RolledBackActionEnvelope,
)
from parties import Parties, answered, check, given, ok, refused


def contain(party: Parties, incident: str) -> None:
    action = execute(party, incident)
    approve(party, action)
    body = ActionRollback(reason="A false alarm")
    answer = roll_back_action.sync_detailed(action, client=party.senior, body=body)
    undone = answered(answer, RolledBackActionEnvelope).data
    check(undone.status is ActionStatus.COMPLETED, "the rollback is completed")
    check(undone.rollback_action_id != action, "the rollback is an action of its own")
    ok("roll back")
    twice = roll_back_action.sync_detailed(action, client=party.senior, body=body)
    refused(twice, 409, "invalid_state")
    ok("conflict")


def execute(party: Parties, incident: str) -> str:
    body = IsolateHostRequest(
        action=IsolateHostRequestAction.ISOLATE_HOST,
        parameters=IsolateHostParameters(host_id="ws-0042", reason="Mimikatz was seen"),
    )
    answer = execute_incident_action.sync_detailed(
        incident, client=party.analyst, body=body
    )
    asked = answered(answer, ExecutedActionEnvelope).data
    check(answer.status_code == 202, "it waits")
    check(asked.status is ActionStatus.PENDING_APPROVAL, "it waits for approval")
    check(asked.approval_level is RequiredLevel.SENIOR, "it is for a senior")
    ok("execute")
    return asked.action_id


def approve(party: Parties, action: str) -> None:
    body = ActionApproval(comment="The host is a laptop")
    answer = approve_action.sync_detailed(action, client=party.analyst, body=body)
    error = refused(answer, 403, "insufficient_approval_level")
    check(error.your_level is ApprovalLevel.ANALYST, "the analyst's level is told")
    answer = approve_action.sync_detailed(action, client=party.senior, body=body)
    approved = answered(answer, ApprovedActionEnvelope).data
    check(approved.status is ActionStatus.COMPLETED, "it is completed")
    result = given(approved.result)
    check(result.success and "[sandbox]" in result.message, "the sandbox did it")
    ok("approve")
