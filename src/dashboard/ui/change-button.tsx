import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { ComponentProps } from 'react'
import { translate } from '../language/i18n.ts'
import { useAccount, viewersHint } from '../session/session.ts'

interface ChangeButtonProps extends ButtonProps, Omit<ComponentProps<'button'>, keyof ButtonProps> {
  /** Why nobody can use the button at the moment. */
  obstacle?: string | undefined
}

/** A button that changes the account. For viewers, and with an obstacle, it is disabled with an explanatory tooltip. */
export function ChangeButton({ disabled, obstacle, ...button }: ChangeButtonProps) {
  const { canChange } = useAccount()
  if (canChange && obstacle === undefined) return <Button {...button} disabled={disabled ?? false} />
  return (
    <Tooltip label={canChange ? obstacle : translate(viewersHint)} events={{ hover: true, focus: true, touch: true }}>
      {/* Not `disabled`: a disabled button cannot be focused, so its tooltip could not be read. */}
      <Button {...button} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}
