
from incident_triage.api import ActionsApi, ApprovalsApi
from incident_triage.models import (
    ActionApproval,
    ActionRequest,
    ActionRollback,
    ActionStatus,
    ApprovalLevel,
    IsolateHostParameters,
    IsolateHostRequest,
    RequiredLevel,
)
from parties import Parties, check, given, ok, refused


def contain(party: Parties, incident: str) -> None:
    action = execute(party, incident)
    approve(party, action)
    api = ActionsApi(party.senior)
    body = ActionRollback(reason="A false alarm")
    undone = api.roll_back_action(action, body).data
    check(undone.status is ActionStatus.COMPLETED, "the rollback is completed")
    check(undone.rollback_action_id != action, "the rollback is an action of its own")
    ok("roll back")
    refused(409, "invalid_state", lambda: api.roll_back_action(action, body))
    ok("conflict")


def execute(party: Parties, incident: str) -> str:
    request = IsolateHostRequest(
        action="isolate_host",
        parameters=IsolateHostParameters(host_id="ws-0042", reason="Mimikatz was seen"),
    )
    body = ActionRequest(request)
    answer = ActionsApi(party.analyst).execute_incident_action_with_http_info(incident, body)
    asked = answer.data.data
    check(answer.status_code == 202, "it waits")
    check(asked.status is ActionStatus.PENDING_APPROVAL, "it waits for approval")
    check(asked.approval_level is RequiredLevel.SENIOR, "it is for a senior")
    ok("execute")
    return asked.action_id


def approve(party: Parties, action: str) -> None:
    body = ActionApproval(comment="The host is a laptop")
    low = ApprovalsApi(party.analyst)
    error, _ = refused(
        403,
        "insufficient_approval_level",
        lambda: low.approve_action(action, action_approval=body),
    )
    check(error.your_level is ApprovalLevel.ANALYST, "the analyst's level is told")
    approved = ApprovalsApi(party.senior).approve_action(action, action_approval=body).data
    check(approved.status is ActionStatus.COMPLETED, "it is completed")
    result = given(approved.result)
    check(result.success and "[sandbox]" in result.message, "the sandbox did it")
    ok("approve")
