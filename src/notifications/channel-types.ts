import { join } from 'node:path';
import { TypesByName } from '../targets/target-check.js';
import type { ChannelType } from './channel-type.js';

export const CHANNEL_TYPES = new TypesByName<ChannelType>(join(__dirname, 'types'));
