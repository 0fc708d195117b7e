import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** A password, or another secret that is typed in. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput visibilityToggleButtonProps={{ 'aria-label': 'Show or hide', tabIndex: 0 }} {...props} />
}
