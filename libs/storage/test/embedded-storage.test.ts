import { openEmbeddedStorage } from '../src/embedded-storage.ts';
import { describeSqlOutbox } from './sql-outbox-contract.ts';
import { describeStorage } from './storage-contract.ts';

describeStorage('embedded', openEmbeddedStorage);
describeSqlOutbox('embedded', openEmbeddedStorage);
