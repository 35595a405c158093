use crate::Caller;
use crate::api::types::{
    self, IncidentReference, KnownActionType, PlaybookRunOutcome, PlaybookRunStatus, WebhookReceipt,
};
use crate::incidents::object;
use crate::outcome::{Outcome, Step, check, ok};
use hmac::{Hmac, Mac};
use serde_json::json;
use sha2::Sha256;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub async fn triage(caller: &Caller, incident: &IncidentReference) -> Outcome<()> {
    let body = types::TriageRequest::default();
    let run = caller
        .analyst
        .triage_incident(incident, None, None, &body)
        .await
        .step("triage")?;
    check(
        run.data.status == types::TriageStatus::Completed,
        "the triage is completed",
    )?;
    let verdict = run.data.verdict.as_ref().ok_or("no verdict")?;
    check(
        (0.0..=1.0).contains(&verdict.confidence),
        "the confidence is between 0 and 1",
    )?;
    check(
        !verdict.classification.to_string().is_empty(),
        "the incident is classified",
    )?;
    ok("triage");
    let again = caller
        .analyst
        .triage_incident(incident, None, None, &body)
        .await;
    let (_, headers) = again.refused(429, "rate_limited")?;
    let seconds: u32 = headers
        .get("retry-after")
        .ok_or("no Retry-After")?
        .to_str()?
        .parse()?;
    check((1..=60).contains(&seconds), "it says when to come again")?;
    ok("limited");
    Ok(())
}

pub async fn run_playbook(caller: &Caller, incident: &IncidentReference) -> Outcome<()> {
    let step = json!({
        "name": "ticket",
        "action": KnownActionType::CreateTicket,
        "parameters": { "title": "{{ incident.title }}" },
    });
    let name = format!("playbook-{}", caller.run);
    let body = serde_json::from_value(json!({ "name": name, "steps": [step] }))?;
    let playbook = caller
        .senior
        .create_playbook(None, &body)
        .await
        .step("a playbook")?;
    let id = playbook.data.id.to_string().parse()?;
    let body = types::PlaybookRunRequest {
        incident_id: Some(incident.clone()),
        ..Default::default()
    };
    let answer = caller
        .analyst
        .run_playbook(&id, None, &body)
        .await
        .step("run")?
        .into_inner();
    let PlaybookRunOutcome::StartedPlaybookRun(started) = answer.data else {
        return Err("the run is none".into());
    };
    ok("run");
    let run = loop {
        let run = caller
            .analyst
            .get_playbook_run(&id, &started.run_id)
            .await
            .step("read the run")?;
        if run.data.status != PlaybookRunStatus::Running {
            break run.into_inner().data;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    check(
        run.status == PlaybookRunStatus::Completed,
        "the run is completed",
    )?;
    check(
        run.steps.len() == 1 && !run.steps[0].result.is_empty(),
        "its step has a result",
    )?;
    ok("read the run");
    let change = types::PlaybookUpdate {
        description: Some("Opens a ticket.".parse()?),
        ..Default::default()
    };
    let edited = caller
        .senior
        .update_playbook(&id, None, &change)
        .await
        .step("edit")?;
    check(
        edited
            .data
            .description
            .as_ref()
            .is_some_and(|text| text.as_str() == "Opens a ticket."),
        "the playbook is described",
    )?;
    check(edited.data.steps.len() == 1, "it keeps its step")?;
    ok("edit");
    Ok(())
}

pub async fn deliver(caller: &Caller) -> Outcome<()> {
    let secret = format!("{}-is-no-word-of-a-list", caller.run);
    let source = serde_json::from_value(json!({ "source": caller.run, "secret": secret }))?;
    caller
        .admin
        .create_webhook_source(None, &source)
        .await
        .step("a source")?;
    let event = json!({
        "event_type": "malware",
        "data": { "alert_id": "alert-4711", "severity": "high" },
    });
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)?
        .as_secs()
        .to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(&serde_json::to_vec(&event)?);
    let signature = format!("sha256={:x}", mac.finalize().into_bytes());
    let (signature, time) = (Some(signature.as_str()), Some(time.as_str()));
    let source = caller.run.parse()?;
    let sent = caller
        .stranger
        .receive_webhook(&source, signature, time, None, None, None, None, &event);
    let receipt = sent.await.step("receipt")?.into_inner();
    let WebhookReceipt::AcceptedReceipt(accepted) = receipt else {
        return Err("the event is not accepted yet".into());
    };
    let incident = caller
        .analyst
        .get_incident(&accepted.incident_id.to_string().parse()?)
        .await
        .step("its incident")?;
    check(
        incident.data.source == caller.run,
        "the incident is of the source",
    )?;
    check(
        incident.data.raw_data == object(event),
        "the event is kept as it was sent",
    )?;
    ok("receipt");
    Ok(())
}
