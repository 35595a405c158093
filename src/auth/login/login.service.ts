import { Injectable } from '@nestjs/common';
import { networkOf } from '../../platform/addresses/network.js';
import { InvalidCredentialsError } from '../auth.errors.js';
import { PasswordThrottle } from '../passwords/password-throttle.js';
import { Passwords } from '../passwords/passwords.js';
import { type BegunSession, SessionsService } from '../sessions/sessions.service.js';
import { isUsername } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';

interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  readonly address: string;
  readonly userAgent?: string;
  readonly formerToken?: string;
}

interface LoggedIn extends BegunSession {
  readonly name: string;
  readonly passwordMadeUp: boolean;
}

/** Looked up if the text cannot be a user name. No user has this name. */
const NOBODYS_NAME = '-';

@Injectable()
export class LoginService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly throttle: PasswordThrottle,
    private readonly passwords: Passwords,
  ) {}

  /** Unknown users, disabled users and wrong passwords have the same answer and the same response time. */
  async logIn({
    username,
    password,
    address,
    userAgent,
    formerToken,
  }: LoginAttempt): Promise<LoggedIn> {
    // Mobile keyboards start a text with a capital letter.
    const typed = username.trim().toLowerCase();
    const account = isUsername(typed) ? typed : NOBODYS_NAME;
    const user = await this.users.findForLogin(account, networkOf(address));
    const storedHash = user?.password_hash ?? undefined;
    const passed = await this.throttle.verifyPassword({
      address,
      account,
      fromKnownNetwork: user?.known === true,
      password,
      storedHash,
      mayLogIn: user?.enabled === true,
      username: user?.username,
    });
    if (!passed || !user || storedHash === undefined) throw new InvalidCredentialsError();
    const renewedHash = await this.passwords.renewed(password, storedHash);
    const session = await this.sessions.begin({
      user,
      address,
      userAgent,
      renewedHash,
      formerToken,
    });
    if (!session) throw new InvalidCredentialsError();
    return { ...session, name: user.username, passwordMadeUp: user.password_made_up };
  }
}
