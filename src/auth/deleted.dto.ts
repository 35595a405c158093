export { DeletedDto } from '../common/deleted.dto.js';
