import { t } from '@lingui/core/macro'
import { IconPlus } from '@tabler/icons-react'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { Modal, useLinkedDialog } from '../../ui/dialog.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { AddForm } from './add-form.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  const { canChange } = useAccount()
  const { opened, open, close } = useLinkedDialog('#add')
  return (
    <>
      <PageHeader
        title={t`Suppressions`}
        description={t`Recipients who opted out. Waybill does not send them the messages that they stopped.`}
        actions={<ChangeButton icon={IconPlus} onClick={open}>{t`Add recipients`}</ChangeButton>}
      />
      <ListSection />
      <CategoriesSection />
      {canChange && <EraseSection />}
      {/* A click outside would discard a pasted list. */}
      <Modal opened={opened} onClose={close} title={t`Add recipients`} size="lg" closeOnClickOutside={false}>
        <AddForm onDone={close} />
      </Modal>
    </>
  )
}

/** Says how a person is erased: it searches everything that is stored, so only an operator can do it, by a command. */
function EraseSection() {
  const { accountId } = useAccount()
  return (
    <Section
      title={t`Erase a person`}
      description={t`For people who ask you to delete their data (GDPR). Waybill removes the number from everything that it stores. Their messages stay in the log without a recipient, and an opt-out still applies.`}
    >
      <CopyField
        wraps
        label={t`Command`}
        description={t`Ask an operator of this server to run it, with the person’s number in place of NUMBER.`}
        value={`waybill recipient erase NUMBER --account ${accountId}`}
      />
    </Section>
  )
}
