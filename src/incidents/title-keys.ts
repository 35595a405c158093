import { spots } from './title-values.js';

/*
 * Where tools write what a title tells. Of several places in one event the first counts, so the more telling ones come first.
 */

export const SUBJECT = spots('subject email_subject mail_subject message_subject email.subject');
// Of a sender with a name and an address the address counts: anybody may choose any name.
export const SENDER = spots(`from.email_address.address sender.email_address.address from.address
  sender.address sender from sender_address sender_email from_address from_email email_from
  sender_from_address header_from mail_from envelope_from return_path email.from email.sender reported_sender`);
export const REPLY_TO = spots(
  `reply_to reply-to Reply-To reply_to_address reply_to_email email.reply_to`,
);
export const RECIPIENT = spots(`recipient recipients to recipient_address recipient_email
  recipient_email_address to_address email_to rcpt_to email.to target_user reported_by reporter mailbox`);
export const HOST = spots(`host hostname host_name device device_name device_dns_name computer
  computer_name endpoint endpoint_name machine machine_name asset asset_name agent agent_name dvc dest_host
  agent_realtime_info.agent_computer_name host.name agent.name instance instance_id pod container resource
  repository`);
export const USER = spots(`user username user_name user_principal_name upn account_name
  account_upn target_user email user_email login principal user_id actor.alternate_id actor actor.user
  user.name user.email identity`);
// Not among the users: to clouds it is a tenant, and its name behind "for" would be taken for a person's. What is taken over,
// or is written with an @, is a person's.
export const ACCOUNT = spots('account');
export const ADDRESS = spots(`source_ip src_ip ip ip_address client_ip remote_ip caller_ip_address
  source_ip_address source_address src_address src sourceIPAddress source.ip client.ip client.ip_address
  src_endpoint.ip remote_address`);
export const COUNTRY =
  spots(`country country_name country_code source_country src_country geo_country
  geo.country geo.country_name geoip.country_name location.country location.country_or_region
  source.geo.country_name client.geographical_context.country`);
export const OUTCOME = spots('outcome');
export const FILE =
  spots(`file_name file file_path filename file.name file.path process_name process
  process.name path object_name sha256 file_hash hash package`);
export const HASH =
  spots(`sha256 file_sha256 file_hash hash file.hash.sha256 file.sha256 hashes.sha256
  process.hash.sha256 sha1 md5`);
export const DESTINATION = spots(`destination destination_domain destination_host dest_domain
  destination_url destination_ip dest_ip dst_ip dest dst destination.domain destination.ip dst_endpoint.ip url
  domain remote_host bucket`);
export const DETECTION =
  spots(`detection_name detect_name malware_name malware malware_family family
  threat_name threat threat_info.threat_name signature virus_name ransomware ransomware_family detection
  threat.name`);
export const RULE =
  spots(`title alert_title finding_info finding rule_name rule alert_name alertname
  alert signature policy_name policy kibana.alert.rule.name search_name rule.name detection_name name
  display_name display_message summary headline reason message description event_name event_type activity
  rule_id category`);
