const words = (text: string) => text.trim().split(/\s+/);

/** Common names come first. Many more patients have a name from the start of the list than from the end. */
export const familyNames = words(`
  Smith Jones Taylor Brown Williams Wilson Johnson Davies Patel Robinson Wright Thompson Evans Walker White Roberts
  Green Hall Wood Jackson Clarke Khan Harrison Ward Turner Hill Cooper Morris Moore Clark Lewis Baker Harris King
  Allen Scott Watson Ahmed Parker Young Bennett Mitchell Shaw Cook Simpson Collins Bell Price Marshall Murphy Singh
  Begum Hussain Kelly Bailey Cox Adams Rogers Stevens Ellis Hughes Edwards Murray Kaur Webb Gray Chapman Hunt Palmer
  Holmes Mills Barnes Knight Butler Russell Fisher Stevenson Ali Ryan O’Brien O’Connor McDonald MacLeod Fraser Reid
  Nowak Kowalska Łukaszewicz Wiśniewski Popescu García Müller Nguyễn Okonkwo Adeyemi Mensah Ndlovu Ó-Súilleabháin
  Llewellyn Prydderch Smith-Jones Hamilton-Gray Featherstone Bairstow Whitfield Pemberton Ramsbottom Entwistle
  Arkwright Satterthwaite Postlethwaite Heptinstall Winterbottom Crabtree Thistlethwaite Quayle Kneale Trevelyan
`);

export const givenNames = words(`
  Margaret Susan Patricia Christine David John Michael Peter Robert Paul Alan Mary Jean Sarah Emma Laura Rebecca
  Gemma Rachel Kelly Amy James Andrew Mark Christopher Matthew Thomas Daniel Oliver Jack Harry George Noah Arthur
  Olivia Amelia Isla Ava Ivy Freya Lily Florence Mohammed Aisha Fatima Yusuf Ibrahim Priya Arjun Anjali Zofia Jakub
  Siobhán Seán Aoife Niamh Rhys Cerys Gwen Callum Eilidh Fiona Angus Chidi Ngozi Kwame Ama Thandi José Zoë Chloë
`);

/** The first requester left the practice long ago, so all her requests are old. */
export const requesters = [
  { family: 'Penhaligon', given: ['Edith'], code: 'G8100001' },
  { family: 'Bairstow', given: ['Thomas'], code: 'G8134567' },
  { family: 'Okonkwo', given: ['Adaeze'], code: 'G8134568' },
  { family: 'Lindqvist', given: ['Karin'], code: 'G8134569' },
  { family: 'Mukherjee', given: ['Rohan'], code: 'G8134570' },
  { family: 'Fairclough', given: ['Janet'], code: 'G8134571' },
] as const;
