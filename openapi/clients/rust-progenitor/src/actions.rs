use crate::Caller;
use crate::api::types::{
    self, ActionId, ActionStatus, ApprovalLevel, IncidentReference, RequiredLevel,
};
use crate::outcome::{Outcome, Step, check, ok};

pub async fn contain(caller: &Caller, incident: &IncidentReference) -> Outcome<()> {
    let action = execute(caller, incident).await?;
    approve(caller, &action).await?;
    let rollback = types::ActionRollback {
        reason: "A false alarm".parse()?,
    };
    let undone = caller
        .senior
        .roll_back_action(&action, None, &rollback)
        .await
        .step("roll back")?;
    check(
        undone.data.status == ActionStatus::Completed,
        "the rollback is completed",
    )?;
    check(
        undone.data.rollback_action_id != action,
        "the rollback is an action of its own",
    )?;
    ok("roll back");
    let twice = caller
        .senior
        .roll_back_action(&action, None, &rollback)
        .await;
    twice.refused(409, "invalid_state")?;
    ok("conflict");
    Ok(())
}

async fn execute(caller: &Caller, incident: &IncidentReference) -> Outcome<ActionId> {
    let parameters = types::IsolateHostParameters {
        host_id: "ws-0042".parse()?,
        reason: Some("Mimikatz was seen".parse()?),
    };
    let action = types::IsolateHostRequestAction::IsolateHost;
    let body = types::IsolateHostRequest {
        action,
        parameters,
        repeat: None,
    }
    .into();
    let asked = caller
        .analyst
        .execute_incident_action(incident, None, &body)
        .await
        .step("execute")?;
    check(asked.status() == 202, "it waits")?;
    check(
        asked.data.status == ActionStatus::PendingApproval,
        "it waits for approval",
    )?;
    check(
        asked.data.approval_level == Some(RequiredLevel::Senior),
        "it is for a senior",
    )?;
    ok("execute");
    Ok(asked.data.action_id.clone())
}

async fn approve(caller: &Caller, action: &ActionId) -> Outcome<()> {
    let body = types::ActionApproval {
        comment: Some("The host is a laptop".parse()?),
        ..Default::default()
    };
    let answer = caller.analyst.approve_action(action, None, &body).await;
    let (error, _) = answer.refused(403, "insufficient_approval_level")?;
    check(
        error.your_level == Some(ApprovalLevel::Analyst),
        "the analyst's level is told",
    )?;
    let approved = caller
        .senior
        .approve_action(action, None, &body)
        .await
        .step("approve")?;
    check(
        approved.data.status == ActionStatus::Completed,
        "it is completed",
    )?;
    let result = approved.data.result.as_ref().ok_or("no result")?;
    check(
        result.success && result.message.contains("[sandbox]"),
        "the sandbox did it",
    )?;
    ok("approve");
    Ok(())
}
