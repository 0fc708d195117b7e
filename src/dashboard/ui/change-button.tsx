import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { ComponentProps } from 'react'
import { useAccount, viewersHint } from '../session/session.ts'

/** A button that changes the account: a viewer sees it, and why it is not for them. */
export function ChangeButton({ disabled, ...button }: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) {
  const { canChange } = useAccount()
  if (canChange) return <Button {...button} disabled={disabled ?? false} />
  return (
    <Tooltip label={viewersHint} events={{ hover: true, focus: true, touch: true }}>
      {/* Not `disabled`: that could not be focused, and its hint never be read. */}
      <Button {...button} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}
