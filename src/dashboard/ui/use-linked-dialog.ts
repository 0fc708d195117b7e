import { useDisclosure } from '@mantine/hooks'
import { useLocation, useNavigate } from 'react-router'
import { useAccount } from '../session/session.ts'

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
