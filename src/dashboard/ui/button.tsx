import {
  Anchor,
  type AnchorProps,
  Button as MantineButton,
  type ButtonProps as MantineButtonProps,
  Tooltip,
} from '@mantine/core'
import type { ComponentProps, ComponentType } from 'react'
import { Link, type LinkProps, type To } from 'react-router'
import { translate } from '../language/i18n.ts'
import { useAccount, viewersHint } from '../session/session.ts'

/** A mutation without input. */
export interface Change {
  isPending: boolean
  mutate: () => void
}

interface Appearance extends Omit<MantineButtonProps, 'leftSection'> {
  icon?: ComponentType<{ size: number }>
}

export interface ButtonProps extends Appearance, Omit<ComponentProps<'button'>, keyof MantineButtonProps> {
  /** What a click does. The button shows that it is under way. */
  change?: Change
}

export function Button({ icon, change, ...button }: ButtonProps) {
  return (
    <MantineButton
      leftSection={iconOf(icon, button.size)}
      {...(change && { loading: change.isPending, onClick: () => change.mutate() })}
      {...button}
    />
  )
}

/** A link within the dashboard. */
export function TextLink(props: AnchorProps & Omit<LinkProps, keyof AnchorProps>) {
  return <Anchor component={Link} {...props} />
}

/** A link within the dashboard that looks like a button. */
export function LinkButton({ icon, ...link }: Appearance & Pick<ComponentProps<'a'>, 'aria-label'> & { to: To }) {
  return <MantineButton component={Link} leftSection={iconOf(icon, link.size)} {...link} />
}

function iconOf(Icon: Appearance['icon'], size: Appearance['size']) {
  return Icon && <Icon size={size === 'xs' ? 14 : size === 'compact-xs' ? 12 : 16} />
}

interface ChangeButtonProps extends ButtonProps {
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
