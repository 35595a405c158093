import { Body, Controller, Delete, Get, Param, Post, Put, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Requires } from '../platform/access/access.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  DeletedResourceDto,
} from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import { AccountsService } from './accounts.service.js';
import {
  ApiKeyDto,
  ApiKeyInputDto,
  ApiKeyQueryDto,
  CreatedApiKeyDto,
  DeleteUserQueryDto,
  LoginSessionDto,
  PasswordChangeDto,
  presentPrincipal,
  PrincipalDto,
  SessionQueryDto,
  UserDto,
  UserInputDto,
  UserQueryDto,
  UserUpdateDto,
} from './auth.dto.js';
import { CurrentPrincipal, type Principal } from './principal.js';
import { SessionsService } from './sessions.service.js';

const NAME_TAKEN = ApiErrorMeanings({
  conflict:
    'The name is in use or was used before (names are not reused), or a request with the same Idempotency-Key is in progress.',
});

const presentCreated = present(CreatedApiKeyDto);

@ApiTags('Access')
@Controller('api/api-keys')
@Requires('admin')
export class ApiKeysController {
  constructor(private readonly accounts: AccountsService) {}

  @Post()
  @Operation(
    'createApiKey',
    'Create an API key',
    'Shows the key only once, because only its hash is stored. The key acts as `key:<name>`. For the four-eyes check it counts as the person who created it.',
  )
  @NAME_TAKEN
  @ApiAnswer(201, 'The new key.', CreatedApiKeyDto)
  async create(
    @Body() body: ApiKeyInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<CreatedApiKeyDto> {
    const remember = idempotency.remember(presentCreated, { secret: true });
    return presentCreated(await this.accounts.createKey(caller, body, remember));
  }

  @Get()
  @Operation(
    'listApiKeys',
    'List the API keys',
    'Newest first, without secrets. `last_used_at` helps to find unused keys.',
  )
  @ApiAnswer(200, 'The valid keys.', ApiKeyDto, { list: true })
  async list(@Query() query: ApiKeyQueryDto): Promise<ListAnswer<ApiKeyDto>> {
    return ListAnswer.of(await this.accounts.listKeys(query), query, present(ApiKeyDto));
  }

  @Delete(':id')
  @Operation('deleteApiKey', 'Revoke an API key', 'Cannot be undone. The name is not reused.')
  @ApiAnswer(200, 'The key is revoked on all replicas within one second.', DeletedResourceDto)
  async delete(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.accounts.revokeKey(caller, id);
    return { id, deleted: true };
  }
}

const presentUser = present(UserDto);

const LAST_ADMIN = ApiErrorMeanings({
  invalid_state:
    'The user is the last enabled admin, who cannot be deleted, disabled or given another role.',
});

@ApiTags('Access')
@Controller('api/users')
@Requires('admin')
export class UsersController {
  constructor(private readonly accounts: AccountsService) {}

  @Post()
  @Operation(
    'createUser',
    'Make a user',
    'The password must not be common or contain the name. The person can change it with `PUT /api/me/password`.',
  )
  @ApiAnswer(201, 'The user.', UserDto)
  @ApiErrors('weak_password')
  @NAME_TAKEN
  async create(
    @Body() body: UserInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<UserDto> {
    return presentUser(
      await this.accounts.createUser(caller, body, idempotency.remember(presentUser)),
    );
  }

  @Get()
  @Operation('listUsers', 'List the users', 'Newest first, including disabled users.')
  @ApiAnswer(200, 'The users.', UserDto, { list: true })
  async list(@Query() query: UserQueryDto): Promise<ListAnswer<UserDto>> {
    return ListAnswer.of(await this.accounts.listUsers(query), query, presentUser);
  }

  @Get(':id')
  @Operation('getUser', 'Read a user', 'The password is never shown, not even as a hash.')
  @ApiAnswer(200, 'The user.', UserDto)
  async get(@Param('id') id: string): Promise<UserDto> {
    return presentUser(await this.accounts.getUser(id));
  }

  @Put(':id')
  @Operation(
    'updateUser',
    'Change the role or the password of a user, disable or enable it',
    'A new role applies to existing sessions. While a user is disabled, the keys of the user do not work.',
  )
  @ApiAnswer(200, 'The user after the change.', UserDto)
  @ApiErrors('invalid_state', 'weak_password')
  @LAST_ADMIN
  async update(
    @Param('id') id: string,
    @Body() body: UserUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<UserDto> {
    return presentUser(await this.accounts.updateUser(caller, id, body));
  }

  @Delete(':id')
  @Operation(
    'deleteUser',
    'Delete a user',
    'Ends all sessions, and revokes the keys of the user unless `keys=keep`. Records keep the name, which stays taken.',
  )
  @ApiAnswer(200, 'The user is deleted.', DeletedResourceDto)
  @ApiErrors('invalid_state')
  @LAST_ADMIN
  async delete(
    @Param('id') id: string,
    @Query() query: DeleteUserQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.accounts.deleteUser(caller, id, query);
    return { id, deleted: true };
  }
}

const presentSession = present(LoginSessionDto);

@ApiTags('Access')
@Controller('api/me')
@Requires('viewer')
export class MeController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  @Operation(
    'getMe',
    'Read the identity of the caller',
    'Send this request first with a new key: the response shows whether the key works, and the permissions of the key.',
  )
  @ApiAnswer(200, 'The caller.', PrincipalDto)
  get(@CurrentPrincipal() caller: Principal): PrincipalDto {
    return presentPrincipal(caller);
  }

  @Put('password')
  @Operation('changeMyPassword', 'Change your own password', 'Ends your other sessions.')
  @ApiAnswer(200, 'The new password is set.', PrincipalDto)
  @ApiErrors('weak_password')
  @ApiErrorMeanings({
    invalid_credentials: 'The current password is wrong.',
    invalid_state: 'The caller is a key, which has no password.',
  })
  async changePassword(
    @Body() body: PasswordChangeDto,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PrincipalDto> {
    await this.sessions.changePassword(caller, body, request.ip);
    return presentPrincipal(caller);
  }

  @Get('sessions')
  @Operation(
    'listMySessions',
    'List your own sessions',
    'Newest first. End the sessions that you do not recognise. A key has no sessions.',
  )
  @ApiAnswer(200, 'Your sessions.', LoginSessionDto, { list: true })
  async listSessions(
    @Query() query: SessionQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ListAnswer<LoginSessionDto>> {
    const page = await this.sessions.listOwn(caller, query);
    return ListAnswer.of(page, query, (row) =>
      presentSession({ ...row, current: row.id === caller.sessionId }),
    );
  }

  @Delete('sessions/:id')
  @Operation(
    'endMySession',
    'End one of your own sessions',
    'You can also end the current session. The next request must log in.',
  )
  @ApiAnswer(200, 'The session is ended on all replicas within one second.', DeletedResourceDto)
  async endSession(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Req() request: FastifyRequest,
  ): Promise<DeletedResourceDto> {
    await this.sessions.endOwn(caller, id, request.ip);
    return { id, deleted: true };
  }
}
