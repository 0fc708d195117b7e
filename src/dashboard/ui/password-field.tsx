import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** A password, or another secret that is typed in. Mantine marks its other fields as invalid, but not this one. */
export function PasswordField(props: PasswordInputProps) {
  return (
    <PasswordInput
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide', tabIndex: 0 }}
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}
