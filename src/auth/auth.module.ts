import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Bootstrap } from './bootstrap/bootstrap.service.js';
import { MadeUpPassword } from './bootstrap/made-up-password.js';
import { WhoCanLogIn } from './bootstrap/who-can-log-in.js';
import { BootstrapRepository } from './bootstrap/bootstrap.repository.js';
import { Authentication } from './authentication/authentication.js';
import { DeclaredAccess } from '../platform/access/declared-access.js';
import { MetricsToken } from './authentication/metrics-token.js';
import { ApiKeysController } from './keys/api-keys.controller.js';
import { ApiKeysRepository } from './keys/api-keys.repository.js';
import { ApiKeysService } from './keys/api-keys.service.js';
import { LoginController, LogoutController } from './login/login.controller.js';
import { LoginService } from './login/login.service.js';
import { PasswordPageController } from './login/password-page.controller.js';
import { MeController } from './me/me.controller.js';
import { OwnPasswordService } from './me/own-password.service.js';
import { PasswordThrottle } from './passwords/password-throttle.js';
import { SessionsService } from './sessions/sessions.service.js';
import { Passwords } from './passwords/passwords.js';
import { LastUseWriter } from './authentication/last-use.js';
import { SamePerson } from './principals/same-person.js';
import { PrincipalsRepository } from './principals/principals.repository.js';
import { CredentialVerification } from './authentication/credential-verification.js';
import { RefusalLog } from './refusals/refusal-log.js';
import { Refusals } from './refusals/refusals.js';
import { KnownNetworksRepository } from './sessions/known-networks.repository.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { UsersController } from './users/users.controller.js';
import { UsersRepository } from './users/users.repository.js';
import { UsersService } from './users/users.service.js';

@Module({
  imports: [DiscoveryModule],
  controllers: [
    ApiKeysController,
    UsersController,
    MeController,
    LoginController,
    LogoutController,
    PasswordPageController,
  ],
  providers: [
    PrincipalsRepository,
    SamePerson,
    LastUseWriter,
    CredentialVerification,
    RefusalLog,
    Refusals,
    Authentication,
    DeclaredAccess,
    MetricsToken,
    ApiKeysRepository,
    ApiKeysService,
    Passwords,
    PasswordThrottle,
    KnownNetworksRepository,
    SessionsRepository,
    SessionsService,
    LoginService,
    OwnPasswordService,
    BootstrapRepository,
    Bootstrap,
    MadeUpPassword,
    WhoCanLogIn,
    UsersRepository,
    UsersService,
  ],
  // What the global guards are made of, and who is who.
  exports: [Authentication, DeclaredAccess, MetricsToken, SamePerson, Refusals, WhoCanLogIn],
})
export class AuthModule {}
