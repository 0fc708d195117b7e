import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { AddModal } from './add-modal.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { EraseSection } from './erase-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  const { canChange } = useAccount()
  const [adding, { open, close }] = useDisclosure()
  const { hash, key } = useLocation()
  useEffect(() => {
    if (hash === '#add' && canChange) open()
  }, [hash, key, canChange, open])
  return (
    <>
      <PageHeader
        title={t`Suppressions`}
        description={t`Recipients who opted out. Waybill does not send them the messages that they stopped.`}
        actions={
          <ChangeButton leftSection={<IconPlus size={16} />} onClick={open}>
            <Trans>Add recipients</Trans>
          </ChangeButton>
        }
      />
      <ListSection />
      <CategoriesSection />
      {canChange && <EraseSection />}
      <AddModal opened={adding} onClose={close} />
    </>
  )
}
