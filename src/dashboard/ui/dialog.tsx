import {
  Drawer as MantineDrawer,
  type DrawerProps,
  type DrawerRootProps,
  Group,
  Modal as MantineModal,
  type ModalProps,
  type ModalRootProps,
  Text,
} from '@mantine/core'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { useDisclosure } from '@mantine/hooks'
import { useLocation, useNavigate } from 'react-router'
import { t } from '@lingui/core/macro'
import { useAccount } from '../session/session.ts'
import { Button, type Change } from './button.tsx'

/** The listeners of the open dialogs. The last one belongs to the dialog on top. */
const listeners: ((event: KeyboardEvent) => void)[] = []

/**
 * Closes the dialog on Escape if no other dialog is above it. By itself, Mantine closes all open dialogs at once, and
 * what was typed in those below is lost.
 */
function useEscape(opened: boolean, onClose: () => void): void {
  const close = useEffectEvent(onClose)
  useEffect(() => {
    if (!opened) return undefined
    const listen = (event: KeyboardEvent) => {
      const { key, isComposing, defaultPrevented } = event
      if (key !== 'Escape' || isComposing || defaultPrevented || listeners.at(-1) !== listen) return
      // Mantine marks open menus and lists of options, which handle the key themselves.
      const { target } = event
      if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return
      // The dialog may be gone before the next listener runs, which must not take the key for its own.
      event.preventDefault()
      close()
    }
    listeners.push(listen)
    window.addEventListener('keydown', listen, { capture: true })
    return () => {
      listeners.splice(listeners.indexOf(listen), 1)
      window.removeEventListener('keydown', listen, { capture: true })
    }
  }, [opened])
}

/** Returns the focus from a dialog that is mounted open. Mantine remembers the focus only when `opened` changes. */
function useFocusReturn(opened: boolean): void {
  const [previous] = useState(() => (opened ? findFocusable() : undefined))
  useEffect(
    () => () => {
      if (document.activeElement === document.body && previous instanceof HTMLElement)
        previous.focus({ preventScroll: true })
    },
    [previous],
  )
}

/** The focused element, or the button of the menu that contains it, because a menu closes when a dialog opens. */
function findFocusable(): Element | null {
  const menu = document.activeElement?.closest('[role="menu"]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : document.activeElement
}

function useDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): void {
  useEscape(opened, onClose)
  useFocusReturn(opened)
}

export function Modal(props: ModalProps) {
  useDialog(props)
  return <MantineModal closeOnEscape={false} {...props} />
}

export function ModalRoot(props: ModalRootProps) {
  useDialog(props)
  return <MantineModal.Root closeOnEscape={false} {...props} />
}

export function Drawer(props: DrawerProps) {
  useDialog(props)
  return <MantineDrawer closeOnEscape={false} {...props} />
}

export function DrawerRoot(props: DrawerRootProps) {
  useDialog(props)
  return <MantineDrawer.Root closeOnEscape={false} {...props} />
}

/**
 * A dialog of those who can change the account that links also open, by a hash such as `#invite`. The hash goes with the
 * dialog, so that going back or reloading does not open it again.
 */
export function useLinkedDialog(hash: string) {
  const { canChange } = useAccount()
  const [isOpen, { open, close }] = useDisclosure()
  const { hash: current, search } = useLocation()
  const navigate = useNavigate()
  const isLinked = current === hash
  return {
    opened: canChange && (isOpen || isLinked),
    open,
    close: () => {
      close()
      if (isLinked) void navigate({ search }, { replace: true, preventScrollReset: true })
    },
  }
}

interface ConfirmModalProps {
  opened: boolean
  /** The question, such as `Revoke the API key?` */
  title: string
  /** What happens on confirmation. */
  consequence: ReactNode
  /** The verb, such as `Revoke key`. */
  confirmLabel: string
  /** Red by default, for destructive actions. */
  color?: string
  change: Change
  /** Whether a choice is still missing. */
  disabled?: boolean
  onClose: () => void
}

export function ConfirmModal({
  opened,
  title,
  consequence,
  confirmLabel,
  color = 'red.9',
  change,
  disabled = false,
  onClose,
}: ConfirmModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered>
      <Text component="div" size="sm">
        {consequence}
      </Text>
      <Group justify="flex-end" gap="sm" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>{t`Cancel`}</Button>
        <Button color={color} change={change} disabled={disabled}>
          {confirmLabel}
        </Button>
      </Group>
    </Modal>
  )
}
