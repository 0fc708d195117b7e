import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { ComponentProps } from 'react'
import { translate } from '../language/i18n.ts'
import { useAccount, viewersHint } from '../session/session.ts'

/** A button that changes the account. For viewers, it is disabled with an explanatory tooltip. */
export function ChangeButton({ disabled, ...button }: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) {
  const { canChange } = useAccount()
  if (canChange) return <Button {...button} disabled={disabled ?? false} />
  return (
    <Tooltip label={translate(viewersHint)} events={{ hover: true, focus: true, touch: true }}>
      {/* Not `disabled`: a disabled button cannot be focused, so its tooltip could not be read. */}
      <Button {...button} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}
