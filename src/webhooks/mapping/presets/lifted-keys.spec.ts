import { KNOWN_INCIDENT_TYPES } from '../../../incidents/incident.js';
import { incidentTitle } from '../../../incidents/title-rules.js';
import { LIFTED_KEYS } from './lifted-keys.js';

/** They tell nothing by which people know an incident in a list. */
const NOT_IN_TITLES = ['message_id', 'received_at', 'link'];

describe('LIFTED_KEYS', () => {
  it('are known to titles, but for those that say nothing in a list', () => {
    const silent = Object.keys(LIFTED_KEYS).filter((key) =>
      KNOWN_INCIDENT_TYPES.every(
        (type) => !incidentTitle(type, { [key]: 'its value' }, 'siem').includes('its value'),
      ),
    );
    expect(silent).toEqual(NOT_IN_TITLES);
  });
});
