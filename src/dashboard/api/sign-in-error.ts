/** Why a sign-in or a change of password was refused, in words for the person who tried. */
export class SignInError extends Error {
  readonly field: 'password' | 'currentPassword' | 'newPassword' | 'code' | undefined

  constructor(message: string, field?: SignInError['field']) {
    super(message)
    this.name = 'SignInError'
    this.field = field
  }
}
