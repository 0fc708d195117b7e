/** Why a sign-in, or a change of how one signs in, was refused, in words for the person who tried. */
export class SignInError extends Error {
  readonly field: 'password' | 'currentPassword' | 'newPassword' | 'code' | undefined

  constructor(message: string, field?: SignInError['field']) {
    super(message)
    this.name = 'SignInError'
    this.field = field
  }
}

/** The password was right, and no longer counts: it has to be typed again. */
export class PendingSignInEnded extends SignInError {}
