import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const KILL_SWITCH_CONTRACT: ModuleContract = {
  tags: { 'Kill switch': 'Stops every external effect until it is turned off.' },
  schemas: {
    KillSwitchActivatedEvent: 'The kill switch was turned on.',
    KillSwitchData: 'Who turned the kill switch on or off, and why.',
    KillSwitchDeactivatedEvent: 'The kill switch was turned off.',
    HeldWork: 'Work that waits until the kill switch is turned off.',
    KillSwitchActivation: 'The switch after an activation.',
    KillSwitchActivationRequest: 'The reason of an activation.',
    KillSwitchDeactivation: 'The switch after a deactivation.',
    KillSwitchDeactivationRequest:
      'The reason of a deactivation, and the handling of waiting work.',
    KillSwitchStatus: 'The switch, and the waiting work.',
  },
  fields: {
    activated_at: 'Time of the last activation.',
    activated_by: 'Principal of the last activation.',
    active: 'Whether the switch is on.',
    deactivated_at: 'Time of the last deactivation; absent while the switch is on.',
    deactivated_by: 'Principal of the last deactivation.',
    deactivation_reason: 'Reason of the last deactivation.',
  },
};
