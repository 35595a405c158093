use crate::Caller;
use crate::outcome::{Outcome, Step, check, ok};
use openapi::apis::actions_api::{execute_incident_action, roll_back_action};
use openapi::apis::approvals_api::approve_action;
use openapi::models::isolate_host_request::Action;
use openapi::models::{
    ActionApproval, ActionRequest, ActionRollback, ActionStatus, ApprovalLevel,
    IsolateHostParameters, IsolateHostRequest, RequiredLevel,
};

pub async fn contain(caller: &Caller, incident: &str) -> Outcome<()> {
    let action = execute(caller, incident).await?;
    approve(caller, &action).await?;
    let rollback = ActionRollback::new("A false alarm".into());
    let undone = roll_back_action(&caller.senior, &action, rollback.clone(), None).await;
    let undone = undone.step("roll back")?.data;
    check(
        undone.status == ActionStatus::Completed,
        "the rollback is completed",
    )?;
    check(
        undone.rollback_action_id != action,
        "the rollback is an action of its own",
    )?;
    ok("roll back");
    let twice = roll_back_action(&caller.senior, &action, rollback, None).await;
    twice.refused(409, "invalid_state")?;
    ok("conflict");
    Ok(())
}

async fn execute(caller: &Caller, incident: &str) -> Outcome<String> {
    let mut parameters = IsolateHostParameters::new("ws-0042".into());
    parameters.reason = Some("Mimikatz was seen".into());
    let request = IsolateHostRequest::new(Action::IsolateHost, parameters);
    let body = ActionRequest::IsolateHostRequest(Box::new(request));
    let asked = execute_incident_action(&caller.analyst, incident, body, None).await;
    let waiting = asked.step("execute")?.data;
    check(
        waiting.status == ActionStatus::PendingApproval,
        "it waits for approval",
    )?;
    check(
        waiting.approval_level == Some(RequiredLevel::Senior),
        "it is for a senior",
    )?;
    ok("execute");
    Ok(waiting.action_id)
}

async fn approve(caller: &Caller, action: &str) -> Outcome<()> {
    let body = ActionApproval {
        comment: Some("The host is a laptop".into()),
        ..Default::default()
    };
    let low = approve_action(&caller.analyst, action, None, Some(body.clone())).await;
    let error = low.refused(403, "insufficient_approval_level")?;
    check(
        error.your_level == Some(ApprovalLevel::Analyst),
        "the analyst's level is told",
    )?;
    let approved = approve_action(&caller.senior, action, None, Some(body)).await;
    let approved = approved.step("approve")?.data;
    check(
        approved.status == ActionStatus::Completed,
        "it is completed",
    )?;
    let result = approved.result.ok_or("no result")?;
    check(
        result.success && result.message.contains("[sandbox]"),
        "the sandbox did it",
    )?;
    ok("approve");
    Ok(())
}
