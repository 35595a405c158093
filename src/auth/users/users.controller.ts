import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../platform/access/access.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  DeletedResourceDto,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import { CurrentPrincipal, type Principal } from '../principal.js';
import {
  UserInputDto,
  DeleteUserQueryDto,
  UserUpdateDto,
  UserDto,
  UserQueryDto,
} from './users.dto.js';
import { present } from '../../platform/validation/present.js';
import { UsersService } from './users.service.js';

const presentUser = present(UserDto);

const LAST_ADMIN = ApiErrorMeanings({
  invalid_state:
    'It is the last enabled admin, which cannot be deleted, disabled or given another role.',
});

@ApiTags('Access')
@Controller('api/users')
@Requires('admin')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Post()
  @Operation(
    'createUser',
    'Make a user',
    'The password must not be common or contain the name. The person can change it with `PUT /api/me/password`.',
  )
  @ApiAnswer({ status: 201, description: 'The user.', type: UserDto })
  @ApiErrors('weak_password')
  @ApiErrorMeanings({
    conflict:
      'The user name is in use or was used before (names are not reused), or a request with the same Idempotency-Key is in progress.',
  })
  async create(
    @Body() body: UserInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<UserDto> {
    return presentUser(await this.users.create(caller, body, idempotency.remember(presentUser)));
  }

  @Get()
  @Operation('listUsers', 'List the users', 'Newest first, including disabled users.')
  @ApiAnswer({ status: 200, description: 'The users.', type: UserDto, list: true })
  async list(@Query() query: UserQueryDto): Promise<ListAnswer<UserDto>> {
    return ListAnswer.of(await this.users.list(query), query, presentUser);
  }

  @Get(':id')
  @Operation('getUser', 'Read a user', 'Its password is never shown, not even as a hash.')
  @ApiAnswer({ status: 200, description: 'The user.', type: UserDto })
  async get(@Param('id') id: string): Promise<UserDto> {
    return presentUser(await this.users.get(id));
  }

  @Put(':id')
  @Operation(
    'updateUser',
    'Change the role or the password of a user, disable or enable it',
    'A new role applies to existing sessions. While a user is disabled, the keys of the user do not work.',
  )
  @ApiAnswer({ status: 200, description: 'The user after the change.', type: UserDto })
  @ApiErrors('invalid_state', 'weak_password')
  @LAST_ADMIN
  async update(
    @Param('id') id: string,
    @Body() body: UserUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<UserDto> {
    return presentUser(await this.users.update(caller, id, body));
  }

  @Delete(':id')
  @Operation(
    'deleteUser',
    'Delete a user',
    'Ends all sessions, and revokes the keys of the user unless `keys=keep`. Records keep the name, which stays taken.',
  )
  @ApiAnswer({ status: 200, description: 'The user is deleted.', type: DeletedResourceDto })
  @ApiErrors('invalid_state')
  @LAST_ADMIN
  async delete(
    @Param('id') id: string,
    @Query() query: DeleteUserQueryDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.users.delete(caller, id, query);
    return { id, deleted: true };
  }
}
