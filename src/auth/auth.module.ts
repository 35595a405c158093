import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service.js';
import { AuthenticationGuard } from './authentication.js';
import { Bootstrap } from './bootstrap.js';
import { Credentials } from './credentials.js';
import { ApiKeysController, MeController, UsersController } from './auth.controller.js';
import { LoginController } from './login/login.controller.js';
import { Passwords } from './passwords.js';
import { Refusals } from './refusals.js';
import { SessionsService } from './sessions.service.js';

@Module({
  controllers: [ApiKeysController, UsersController, MeController, LoginController],
  providers: [
    Credentials,
    Refusals,
    AuthenticationGuard,
    AccountsService,
    Passwords,
    SessionsService,
    Bootstrap,
  ],
  exports: [AuthenticationGuard, Credentials, Refusals],
})
export class AuthModule {}
