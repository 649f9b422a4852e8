/// Measures ping-pongs, bursts and many-to-one messages.
#include "bench/mpi_machine.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/machine_samples.hpp"
#include "cost/machine.hpp"
#include "run/file.hpp"

namespace tutti::bench {

namespace {

constexpr int tag = 3;
constexpr std::size_t max_file_bytes = 65536;

std::vector<double> samples_of(int repetitions, const std::function<double()>& once) {
  once();
  std::vector<double> samples;
  for (int repetition = 0; repetition < repetitions; ++repetition) samples.push_back(once());
  return samples;
}

/// Half a round trip between the first and the last rank. Only these two call it.
double one_way(const Job& job, std::vector<char>& buffer, std::size_t bytes) {
  const double begin = MPI_Wtime();
  if (job.rank() == 0) {
    job.send(buffer.data(), bytes, job.p() - 1);
    job.receive(buffer.data(), bytes, job.p() - 1);
  } else {
    job.receive(buffer.data(), bytes, 0);
    job.send(buffer.data(), bytes, 0);
  }
  return (MPI_Wtime() - begin) / 2;
}

/// The time in which the first rank passes a message to MPI, in a burst to the last rank.
double send_overhead(const Job& job) {
  std::vector<MPI_Request> requests(32);
  const int count = static_cast<int>(requests.size());
  if (job.rank() != 0) {
    for (MPI_Request& request : requests) {
      MPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, job.control(), &request);
    }
    job.send(nullptr, 0, 0);  // all receives are posted
    wait_all(requests);
    return 0;
  }
  job.receive(nullptr, 0, job.p() - 1);
  const double begin = MPI_Wtime();
  for (MPI_Request& request : requests) {
    MPI_Isend(nullptr, 0, MPI_BYTE, job.p() - 1, tag, job.control(), &request);
  }
  const double busy = MPI_Wtime() - begin;
  wait_all(requests);
  return busy / count;
}

/// The time per message if all ranks from `first_sender` on send to rank 0. All ranks call it.
double many_to_one(const Job& job, Rank first_sender) {
  constexpr int messages = 64;
  std::vector<MPI_Request> requests;
  const int senders = job.p() - first_sender;
  if (job.rank() == 0) {
    requests.resize(static_cast<std::size_t>(messages * senders));
    for (MPI_Request& request : requests) {
      MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, job.control(), &request);
    }
  }
  job.barrier();
  const double begin = MPI_Wtime();
  if (job.rank() >= first_sender) {
    requests.resize(messages);
    for (MPI_Request& request : requests) {
      MPI_Isend(nullptr, 0, MPI_BYTE, 0, tag, job.control(), &request);
    }
  }
  wait_all(requests);
  const double seconds = MPI_Wtime() - begin;
  job.barrier(Patience::sleep);
  return seconds / (messages * senders);
}

/// The measurements between the first and the last rank, which alone call it.
void measure_pair(const Job& job, MachineSamples& samples) {
  std::vector<char> buffer(MachineSamples::large_bytes);
  const auto ping = [&](std::size_t bytes) {
    return [&, bytes] { return one_way(job, buffer, bytes); };
  };
  samples.empty = samples_of(200, ping(0));
  samples.middle = samples_of(60, ping(MachineSamples::middle_bytes));
  samples.large = samples_of(30, ping(MachineSamples::large_bytes));
  samples.overhead = samples_of(50, [&] { return send_overhead(job); });
}

/// Broadcasts the result of rank 0 to all ranks.
Result<Machine> from_first(const Job& job, const Result<Machine>& found) {
  const std::string problem = job.from_first(found ? "" : found.error());
  if (!problem.empty()) return Error{problem};
  Machine machine = found ? *found : Machine{};
  for (double* const field :
       {&machine.latency, &machine.per_byte, &machine.overhead, &machine.gap}) {
    MPI_Bcast(field, 1, MPI_DOUBLE, 0, job.control());
  }
  return machine;
}

Result<Machine> machine_in_file(const Job& job, const std::string& path) {
  Result<std::string> text = Error{""};
  if (job.rank() == 0) text = read_text_file(path, max_file_bytes);
  const std::string problem = job.from_first(text ? "" : text.error());
  const std::string shared = job.from_first(text ? *text : "");
  const Result<Machine> machine =
      problem.empty() ? machine_from_text(shared) : Result<Machine>(Error{problem});
  if (machine) return machine;
  return Error{"invalid TUTTI_MACHINE=" + path + ": " + machine.error()};
}

}  // namespace

Result<Machine> machine_of(const Job& job) {
  std::string path;
  if (const char* const named = std::getenv("TUTTI_MACHINE")) path = named;
  path = job.from_first(path);
  if (path == "built-in") return Machine{};
  if (!path.empty()) return machine_in_file(job, path);
  const Result<Machine> machine = measure_machine(job);
  if (machine) return machine;
  if (job.rank() == 0) {
    std::fprintf(
        stderr,
        "tutti-bench: bounds use the built-in machine, as this one cannot be measured: %s\n",
        machine.error().c_str());
  }
  return Machine{};
}

Result<Machine> measure_machine(const Job& job) {
  if (job.p() == 1) return Machine{};
  MachineSamples samples;
  const bool takes_part = job.rank() == 0 || job.rank() == job.p() - 1;
  job.barrier(Patience::sleep);
  if (takes_part) measure_pair(job, samples);
  job.barrier(Patience::sleep);
  const bool oversubscribed = job.oversubscription() > 1;
  samples.gap = samples_of(20, [&] { return many_to_one(job, oversubscribed ? job.p() - 1 : 1); });
  if (takes_part) {
    std::vector<char> none;
    samples.empty_again = samples_of(200, [&] { return one_way(job, none, 0); });
  }
  job.barrier(Patience::sleep);
  return from_first(job, job.rank() == 0 ? machine_from(samples) : Machine{});
}

}  // namespace tutti::bench
