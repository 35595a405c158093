use crate::Caller;
use crate::outcome::{Outcome, Step, check, ok};
use hmac::{Hmac, Mac};
use openapi::apis::incidents_api::get_incident;
use openapi::apis::playbooks_api::{
    create_playbook, get_playbook_run, run_playbook as start, update_playbook,
};
use openapi::apis::triage_api::triage_incident;
use openapi::apis::webhooks_api::{create_webhook_source, receive_webhook};
use openapi::models::{
    KnownActionType, PlaybookInput, PlaybookRunOutcome, PlaybookRunRequest, PlaybookRunStatus,
    PlaybookStepInput, PlaybookUpdate, TriageStatus, WebhookReceipt, WebhookSourceInput,
};
use serde_json::json;
use sha2::Sha256;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub async fn triage(caller: &Caller, incident: &str) -> Outcome<()> {
    let ask = || triage_incident(&caller.analyst, incident, None, None, None);
    let run = ask().await.step("triage")?.data;
    check(
        run.status == TriageStatus::Completed,
        "the triage is completed",
    )?;
    let verdict = run.verdict.ok_or("no verdict")?;
    check(
        (0.0..=1.0).contains(&verdict.confidence),
        "the confidence is between 0 and 1",
    )?;
    check(
        !verdict.classification.to_string().is_empty(),
        "the incident is classified",
    )?;
    ok("triage");
    ask().await.refused(429, "rate_limited")?;
    ok("limited");
    Ok(())
}

pub async fn run_playbook(caller: &Caller, incident: &str) -> Outcome<()> {
    let mut step = PlaybookStepInput::new(KnownActionType::CreateTicket, "ticket".into());
    step.parameters = Some([("title".into(), json!("{{ incident.title }}"))].into());
    let mut body = PlaybookInput::new(format!("playbook-{}", caller.run));
    body.steps = Some(vec![step]);
    let playbook = create_playbook(&caller.senior, body, None).await;
    let id = playbook.step("a playbook")?.data.id.to_string();
    let request = PlaybookRunRequest {
        incident_id: Some(incident.into()),
        ..Default::default()
    };
    let begun = start(&caller.analyst, &id, None, Some(request)).await;
    let PlaybookRunOutcome::StartedPlaybookRun(started) = *begun.step("run")?.data else {
        return Err("the run is none".into());
    };
    ok("run");
    let run_id = started.run_id.to_string();
    let run = loop {
        let answer = get_playbook_run(&caller.analyst, &id, &run_id).await;
        let run = answer.step("read the run")?.data;
        if run.status != PlaybookRunStatus::Running {
            break run;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    check(
        run.status == PlaybookRunStatus::Completed,
        "the run is completed",
    )?;
    check(
        run.steps.len() == 1 && run.steps[0].result.is_some(),
        "its step has a result",
    )?;
    ok("read the run");
    let change = PlaybookUpdate {
        description: Some(Some("Opens a ticket.".into())),
        ..Default::default()
    };
    let edited = update_playbook(&caller.senior, &id, change, None).await;
    let edited = edited.step("edit")?.data;
    check(
        edited.description.as_deref() == Some("Opens a ticket."),
        "the playbook is described",
    )?;
    check(edited.steps.len() == 1, "it keeps its step")?;
    ok("edit");
    Ok(())
}

pub async fn deliver(caller: &Caller) -> Outcome<()> {
    let secret = format!("{}-is-no-word-of-a-list", caller.run);
    let source = WebhookSourceInput::new(secret.clone(), caller.run.clone());
    create_webhook_source(&caller.admin, source, None)
        .await
        .step("a source")?;
    let event = json!({
        "event_type": "malware",
        "data": { "alert_id": "alert-4711", "severity": "high" },
    });
    let timestamp = SystemTime::now()
        .duration_since(UNIX_EPOCH)?
        .as_secs()
        .to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    mac.update(format!("{timestamp}.{event}").as_bytes());
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let answer = receive_webhook(
        &caller.stranger,
        &caller.run,
        Some(event),
        Some(&format!("sha256={hex}")),
        Some(&timestamp),
        None,
        None,
        None,
        None,
    )
    .await
    .step("receipt")?;
    let WebhookReceipt::AcceptedReceipt(accepted) = answer else {
        return Err("the event is not accepted".into());
    };
    let id = accepted.incident_id.to_string();
    let incident = get_incident(&caller.analyst, &id)
        .await
        .step("the incident")?;
    check(
        incident.data.incident_number == accepted.incident_number,
        "it is the incident of the event",
    )?;
    ok("receipt");
    Ok(())
}
