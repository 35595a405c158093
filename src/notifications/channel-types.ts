import { join } from 'node:path';
import { TypesByName } from '../targets/target-check.js';
import { ChannelType } from './channel-type.js';

/** All types of channels. */
export const CHANNEL_TYPES = new TypesByName(join(__dirname, 'types'), ChannelType);
