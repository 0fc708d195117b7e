import { type PasswordInputProps } from '@mantine/core'
import { PasswordField } from '../../ui/password-field.tsx'

/** Not a password of the person's own: no browser should offer to keep it, or one to fill in. */
export function AccessTokenField(props: PasswordInputProps) {
  return (
    <PasswordField
      label="Access token"
      description="Of a system user: Meta’s Business settings, Users, System users, Generate token, with the permissions whatsapp_business_messaging and whatsapp_business_management."
      autoComplete="one-time-code"
      spellCheck={false}
      {...props}
    />
  )
}

export function AppSecretField(props: PasswordInputProps) {
  return (
    <PasswordField
      label="App secret"
      description="In the dashboard of your Meta app: App settings, Basic. With it, Waybill knows that status reports come from Meta."
      autoComplete="one-time-code"
      spellCheck={false}
      {...props}
    />
  )
}
