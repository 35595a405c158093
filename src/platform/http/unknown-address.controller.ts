import { All, Controller } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Requires } from '../access/access.js';

/**
 * Takes what no other handler under /api takes, so that the guards judge these requests, too: a stranger learns nothing,
 * not even which addresses there are, and has no more tries than elsewhere. The AddressGuard answers who is known.
 */
@ApiExcludeController()
@Controller(['api', 'api/*'])
@Requires('viewer')
export class UnknownAddressController {
  @All()
  refuse(): never {
    throw new Error('The AddressGuard lets nobody pass.');
  }
}
