import { Module } from '@nestjs/common';
import { Bootstrap, WhoCanLogIn } from './bootstrap/bootstrap.service.js';
import { Authentication } from './authentication/authentication.js';
import { ApiKeysController } from './keys/api-keys.controller.js';
import { ApiKeysService } from './keys/api-keys.service.js';
import { LoginController } from './login/login.controller.js';
import { MeController } from './me/me.controller.js';
import { SessionsService } from './sessions/sessions.service.js';
import { Passwords } from './passwords/passwords.js';
import { CredentialVerification } from './authentication/credential-verification.js';
import { PrincipalsRepository } from './principals.js';
import { Refusals } from './refusals/refusals.js';
import { UsersController } from './users/users.controller.js';
import { UsersRepository } from './users/users.repository.js';
import { UsersService } from './users/users.service.js';

@Module({
  controllers: [ApiKeysController, UsersController, MeController, LoginController],
  providers: [
    PrincipalsRepository,
    CredentialVerification,
    Refusals,
    Authentication,
    ApiKeysService,
    Passwords,
    SessionsService,
    Bootstrap,
    WhoCanLogIn,
    UsersRepository,
    UsersService,
  ],
  // For the global guards, and for modules that compare persons.
  exports: [Authentication, PrincipalsRepository, Refusals, WhoCanLogIn],
})
export class AuthModule {}
