import { Module } from '@nestjs/common';
import { AuthenticationGuard } from './authentication.js';
import { Bootstrap } from './bootstrap.js';
import { Credentials } from './credentials.js';
import { ApiKeysController, MeController, UsersController } from './auth.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { LoginController } from './login/login.controller.js';
import { Passwords } from './passwords.js';
import { Refusals } from './refusals.js';
import { SessionsService } from './sessions.service.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [ApiKeysController, UsersController, MeController, LoginController],
  providers: [
    Credentials,
    Refusals,
    AuthenticationGuard,
    ApiKeysService,
    Passwords,
    SessionsService,
    Bootstrap,
    UsersService,
  ],
  exports: [AuthenticationGuard, Credentials, Refusals],
})
export class AuthModule {}
